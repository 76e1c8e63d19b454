# Serai. `make help` lists the targets.
#
# One non-recursive build. Every folder is a static library, and the order in which they are linked is the layering, lowest
# last. Sources are found, not listed: a new .c file in a folder belongs to that folder's library.

CC    ?= cc
BUILD ?= build
OPT   ?= -O2
V     ?=
Q     := $(if $(V),,@)
say    = @printf '  %-5s %s\n' $(1) $(2)

LAYERS := node hotel coordinator data master proto engine common/cluster common/sys common/settings common/base
PROGRAMS := serai-node serai-hotel serai-hotel-admin
MAIN_serai-node  := node/main.c
MAIN_serai-hotel := hotel/main.c
MAIN_serai-hotel-admin := hotel/admin/main.c
LIBS_serai-node  := node coordinator data master proto engine common/cluster common/sys common/settings common/base
LIBS_serai-hotel := hotel common/sys common/settings common/base
LIBS_serai-hotel-admin := hotel common/sys common/settings common/base

# ---- compiler -------------------------------------------------------------------------------------------------------
# EXTRA carries sanitizers and the like to compiler and linker.
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wswitch-enum -Wcast-qual -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Werror
CFLAGS := -std=c11 -D_GNU_SOURCE -g $(OPT) $(WARN) -fno-strict-aliasing -ffp-contract=off -I. -I/usr/include/yajl $(EXTRA)
SYSLIBS := -levent -levent_pthreads -lnng -lhttp_parser -lyajl -licui18n -licuuc -licudata \
           -lstemmer -llz4 -lzstd -lroaring -lyaml -lz -lpthread -lm
# The hotel services alone talk to a database, a message broker and a search service.
SYSLIBS_hotel := -lmariadb -lrabbitmq -lcurl
SYSLIBS_serai-hotel := $(SYSLIBS_hotel)
SYSLIBS_serai-hotel-admin := $(SYSLIBS_hotel)
# Sanitizers bring an allocator of their own.
MALLOC := $(if $(findstring fsanitize,$(EXTRA)),,-ljemalloc)

# A target that builds for somebody uses what the machine has, unless told how many.
JOBS = --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell tools/jobs))

COMMA := ,

# ---- what there is ---------------------------------------------------------------------------------------------------
sources = $(sort $(shell find $(1) -name '*.c' 2>/dev/null))
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
lib     = $(BUILD)/lib/libserai-$(subst /,-,$(1)).a
MAINS   := $(foreach p,$(PROGRAMS),$(MAIN_$(p)))
THERE   := $(foreach p,$(PROGRAMS),$(if $(wildcard $(MAIN_$(p))),$(p)))
ALL_LIBS := $(foreach l,$(LAYERS),$(call lib,$(l)))

TEST_SRC  := $(sort $(shell find tests/unit -name 'test_*.c' 2>/dev/null))
TEST_TOOL := $(sort $(shell find tests/unit tests/tools -name '*_tool.c' 2>/dev/null))
TEST_HELP := tests/sim/history.c $(wildcard tests/seams/*.c) $(wildcard tests/sim/core_trace.c tests/sim/trace_*.c) $(sort $(shell find tests/unit -name '*.c' ! -name 'test_*.c' ! -name '*_tool.c' 2>/dev/null))
TEST_BIN  := $(patsubst %.c,$(BUILD)/%,$(TEST_SRC))
TOOL_BIN  := $(patsubst %.c,$(BUILD)/%,$(TEST_TOOL))
BENCH_BIN := $(patsubst %.c,$(BUILD)/%,$(sort $(shell find bench/micro -name '*.c' 2>/dev/null)))

SHARE := $(BUILD)/share/serai
DICTS := $(SHARE)/ik.dict $(SHARE)/pinyin.dict

.PHONY: all
all: $(foreach p,$(THERE),$(BUILD)/bin/$(p)) $(DICTS) ## the programs and dictionaries, into build/

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

# Tests look at the values that they are about, and may write into what they made.
$(BUILD)/obj/tests/%.o: CFLAGS += -Wno-switch-enum -Wno-cast-qual
$(BUILD)/obj/bench/%.o: CFLAGS += -Wno-switch-enum -Wno-cast-qual
# Tests assert without a write for each assertion that holds.
$(BUILD)/obj/tests/unit/%.o: CFLAGS += -include tests/unit/quick_check.h -Wno-gnu-zero-variadic-macro-arguments

define library
$(call lib,$(1)): $(call objects,$(filter-out $(MAINS),$(call sources,$(1))))
	@mkdir -p $$(@D)
	@rm -f $$@
	$$(Q)ar rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(eval $(call library,$(l))))

define program
$(BUILD)/bin/$(1): $(call objects,$(MAIN_$(1))) $(foreach l,$(LIBS_$(1)),$(call lib,$(l)))
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(EXTRA) -o $$@ $$^ $$(SYSLIBS_$(1)) $$(SYSLIBS) $$(MALLOC)
endef
$(foreach p,$(THERE),$(eval $(call program,$(p))))

# ---- pages and the database's schema, compiled in ------------------------------------------------------------------------
CONSOLE   := $(sort $(wildcard coordinator/rest/console/*))
WEB       := $(sort $(wildcard hotel/web/*))
WEB_ADMIN := $(sort $(wildcard hotel/web_admin/*)) $(addprefix hotel/web/,dom.js i18n.js icon.svg pages.js style.css)
WORDS     := $(sort $(wildcard hotel/words/*.txt))
SCHEMA    := $(sort $(wildcard deploy/mysql/*.sql))

$(BUILD)/bin/embed: tools/embed.c
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $<
define embedded
$(BUILD)/gen/$(1).c: $(BUILD)/bin/embed $(2)
	@mkdir -p $$(@D)
	$$(call say,EMBED,$(1))
	$$(Q)$(BUILD)/bin/embed $(1) $(2) > $$@.new && mv $$@.new $$@
$(BUILD)/obj/gen/$(1).o: $(BUILD)/gen/$(1).c
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CFLAGS) -c -o $$@ $$<
$(call lib,$(3)): $(BUILD)/obj/gen/$(1).o
endef
$(eval $(call embedded,hotel_web_files,$(WEB),hotel))
$(eval $(call embedded,hotel_admin_files,$(WEB_ADMIN),hotel))
$(eval $(call embedded,hotel_word_files,$(WORDS),hotel))
$(eval $(call embedded,hotel_schema_files,$(SCHEMA),hotel))
$(eval $(call embedded,console_files,$(CONSOLE),coordinator))

# ---- the dictionaries that come with the service: Debian's word lists, compiled ----------------------------------------
JIEBA := /usr/lib/python3/dist-packages/jieba/dict.txt
RIME  := /usr/share/rime-data/pinyin_simp.dict.yaml

$(BUILD)/bin/dictc: $(call objects,tools/dictc.c) $(foreach l,engine common/sys common/settings common/base,$(call lib,$(l)))
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(EXTRA) -o $@ $^ $(SYSLIBS)

# Made anew when the word lists or the compiler's own sources change, not whenever something else of its libraries does.
DICT_SRC := tools/dictc.c $(wildcard engine/analysis/dict/*.[ch] engine/analysis/ik.h engine/analysis/pinyin.h engine/analysis/data/*)
$(SHARE)/ik.dict: $(DICT_SRC) $(JIEBA) $(RIME) | $(BUILD)/bin/dictc
	@mkdir -p $(@D)
	$(call say,DICT,$(SHARE))
	$(Q)$(BUILD)/bin/dictc --jieba $(JIEBA) --rime $(RIME) --data engine/analysis/data --out $(SHARE)
$(SHARE)/pinyin.dict: $(SHARE)/ik.dict ;

# ---- tests ----------------------------------------------------------------------------------------------------------------
# A unit test is linked with the library of the layer that it is about and those below, and with what it uses of the tests' own.
TEST_LIB := $(BUILD)/lib/libserai-tests.a
$(TEST_LIB): $(call objects,$(TEST_HELP))
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)ar rcs $@ $^

# The layers from $(1) on, of the list $(2); all when it has no such layer.
from = $(if $(filter $(1),$(firstword $(2))),$(2),$(if $(2),$(call from,$(1),$(wordlist 2,99,$(2)))))
layer_of = $(firstword $(foreach l,$(LAYERS),$(if $(filter tests/unit/$(l)/%,$(1)),$(l))))
layers_for = $(if $(filter hotel,$(1)),$(LIBS_serai-hotel),$(if $(1),$(call from,$(1),$(LAYERS)),$(LAYERS)))
define test_program
$(1): $(call objects,$(patsubst $(BUILD)/%,%.c,$(1))) $(TEST_LIB) $(foreach l,$(call layers_for,$(call layer_of,$(patsubst $(BUILD)/%,%,$(1)))),$(call lib,$(l)))
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(EXTRA) $$(TEST_WRAP) -o $$@ $$^ -lcheck -lsubunit -lrt $$(SYSLIBS_hotel) $$(SYSLIBS)
endef
$(foreach t,$(TEST_BIN) $(TOOL_BIN) $(BENCH_BIN),$(eval $(call test_program,$(t))))

# The functions of the cores, which tests/sim/core_trace.h records.
CORE_CALLS := quorum_new quorum_free quorum_step quorum_refuse_waiting quorum_effect target_init target_step target_effect \
              source_ask_ops source_ask_finalize source_ask_handoff source_begun source_read source_drained source_look \
              follower_step follower_effect $(addprefix group_,begin serve stop forget_gone end_lease report_lost check_active \
              checkpoint_moved leave drain undrain still_quiet expire tick enter add place report missed reported send sent spoil wait \
              abandon failed answered effect)
TRACE_WRAP := $(addprefix -Wl$(COMMA)--wrap=,$(CORE_CALLS))
$(BUILD)/tests/unit/sim/test_core_trace $(BUILD)/tests/unit/sim/test_core_trace_quorum: TEST_WRAP := $(TRACE_WRAP)

# The simulator: whole clusters of what ships, in one process.
SIM_OBJ := $(call objects,$(sort $(wildcard tests/sim/*.c tests/seams/*.c)))
SIM_WRAP := -Wl,--wrap=cluster_state_decode,--wrap=cluster_state_patch,--wrap=cluster_state_diff,--wrap=state_log_open,--wrap=state_log_write $(TRACE_WRAP)
$(BUILD)/bin/serai-sim: $(SIM_OBJ) $(ALL_LIBS)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(EXTRA) $(SIM_WRAP) -o $@ $^ $(SYSLIBS_hotel) $(SYSLIBS)

# Simulators with a deliberate bug: the changed file is linked before the library that has the right one.
$(BUILD)/mutants/%: $(BUILD)/mutants/%.c $(SIM_OBJ) $(ALL_LIBS)
	$(Q)$(CC) $(CFLAGS) -O1 -g0 -Wno-error $(SIM_WRAP) -o $@ $^ $(SYSLIBS_hotel) $(SYSLIBS)

# The fuzz targets, one program (tests/fuzz): with clang and its sanitizers, in a build folder of its own.
FUZZ_OBJ := $(call objects,$(sort $(wildcard tests/fuzz/*.c)))
FUZZ_HELP := $(filter-out $(BUILD)/obj/tests/sim/%,$(call objects,$(TEST_HELP)))
$(BUILD)/bin/serai-fuzz: $(FUZZ_OBJ) $(FUZZ_HELP) $(ALL_LIBS)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(EXTRA) -fsanitize=fuzzer -o $@ $^ -lcheck -lsubunit -lrt $(SYSLIBS_hotel) $(SYSLIBS)

.PHONY: tests unit
tests: $(TEST_BIN) $(TOOL_BIN) $(BUILD)/bin/serai-sim
unit: tests $(DICTS) ## unit tests, seconds
	$(Q)BUILD=$(BUILD) tests/run unit

# Unit tests that start threads, or use what does; in the others ThreadSanitizer has nothing to find.
WITH_THREADS := $(patsubst %.c,$(BUILD)/%,$(shell grep -lE 'pthread_create|pool_new|loop_new|nng' $(TEST_SRC)))
.PHONY: tests-of-threads
tests-of-threads: $(WITH_THREADS)

.PHONY: sim
RUNS ?= 500
SEED ?= 1
sim: ## the simulator: SEED= RUNS=; SCALE=1: what 1,000 nodes with 100,000 shards cost
	$(Q)$(MAKE) $(JOBS) $(BUILD)/bin/serai-sim
	$(Q)$(BUILD)/bin/serai-sim $(if $(SCALE),--scale 1000 --copies 100000,) --seed $(SEED) --runs $(RUNS) --jobs $(shell nproc)

.PHONY: check check-long
check: BROWSER=1
check: SERVERS=1
check: FUZZ=1
check: deps ## everything in its short form, under 20 minutes
	$(Q)$(MAKE) $(JOBS) all tests fuzz-build
	$(Q)BUILD=$(BUILD) tests/run all
check-long: BROWSER=1
check-long: SERVERS=1
check-long: FUZZ=1
check-long: deps ## the long forms: COUNT= and SEED= are passed on
	$(Q)$(MAKE) $(JOBS) all tests fuzz-build
	$(Q)BUILD=$(BUILD) LONG=1 tests/run all

ASAN := -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined
TSAN := -fsanitize=thread
.PHONY: check-asan check-tsan
check-asan: ## unit, process tests and recordings under ASan and UBSan
	$(Q)$(MAKE) $(JOBS) BUILD=$(BUILD)/asan EXTRA="$(ASAN)" OPT=-O1 all tests
	$(Q)BUILD=$(BUILD)/asan REPORTS=$(BUILD)/asan/reports LIMIT=20000 tests/run unit conformance process
check-tsan: ## the same under TSan; of the unit tests, those with threads
	$(Q)$(MAKE) $(JOBS) BUILD=$(BUILD)/tsan EXTRA="$(TSAN)" OPT=-O1 all tests-of-threads
	$(Q)BUILD=$(BUILD)/tsan REPORTS=$(BUILD)/tsan/reports LIMIT=20000 TSAN_OPTIONS="suppressions=tests/tsan.supp" tests/run unit conformance process

.PHONY: fuzz-requests
fuzz-requests: ## changed requests to a node under ASan and UBSan: SECONDS= SEED=; ORACLE= asks an Elasticsearch
	$(Q)$(MAKE) $(JOBS) BUILD=$(BUILD)/asan EXTRA="$(ASAN)" OPT=-O1 all
	$(Q)BUILD=$(BUILD)/asan tests/fuzz/requests.py --seconds $(SECONDS) --seed $(SEED) $(if $(ORACLE),--oracle $(ORACLE))

# A null pointer with nothing added is fine by gcc, and by C from 2025 on.
FUZZ_SANITIZERS := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=pointer-overflow -fno-omit-frame-pointer -fno-sanitize-recover=undefined
SECONDS ?= 60
.PHONY: fuzz fuzz-build
fuzz: FUZZ=1
fuzz: deps ## fuzz targets for SECONDS= in all (60); TARGETS= some of them
	$(Q)$(MAKE) $(JOBS) fuzz-build
	$(Q)BUILD=$(BUILD) SECONDS=$(SECONDS) TARGETS="$(TARGETS)" tests/fuzz/run
fuzz-build:
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz CC="$(CLANG)" EXTRA="$(FUZZ_SANITIZERS)" OPT=-O1 $(BUILD)/fuzz/bin/serai-fuzz
CLANG ?= clang

.PHONY: tidy format
tidy: TIDY=1
tidy: deps ## layers, formatting, clang-tidy
	$(Q)tools/layers
	$(Q)tools/format --check
	$(Q)$(MAKE) -k $(JOBS) clang-tidy

# A source that was found clean is looked at again when it, a header of it or the checks change.
TIDY_OK := $(patsubst %.c,$(BUILD)/tidy/%.ok,$(call sources,$(LAYERS)))
.PHONY: clang-tidy
clang-tidy: $(TIDY_OK)
$(BUILD)/tidy/%.ok: %.c .clang-tidy
	@mkdir -p $(@D)
	$(call say,TIDY,$<)
	$(Q)clang-tidy --quiet $< -- $(CFLAGS) 2>/dev/null
	$(Q)$(CC) $(CFLAGS) -MM -MP -MT $@ -MF $(@:.ok=.d) $<
	$(Q)touch $@
ifneq ($(filter clang-tidy,$(MAKECMDGOALS)),)
-include $(shell find $(BUILD)/tidy -name '*.d' 2>/dev/null)
endif
format: ## rewrites the sources as .clang-format says
	$(Q)tools/format

.PHONY: bench
bench: all $(BENCH_BIN) ## one comparable line each
	$(Q)for b in $(BENCH_BIN); do $$b || exit 1; done

# ---- installing ------------------------------------------------------------------------------------------------------------
.PHONY: install deb image
install: all ## programs, manual pages and services: PREFIX= (/usr/local) DESTDIR=
	$(Q)BUILD=$(BUILD) PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) deploy/install
deb: DEB=1
deb: deps ## a Debian package, into build/
	$(Q)$(MAKE) $(JOBS) all
	$(Q)BUILD=$(BUILD) deploy/deb
image: ## an image for Docker, by the name serai
	docker build -t serai -f deploy/docker/Dockerfile .

# ---- running -----------------------------------------------------------------------------------------------------------------
.PHONY: deps demo clean help
deps: ## installs the Debian packages that are missing (root or sudo)
	$(Q)BROWSER=$(BROWSER) SERVERS=$(SERVERS) TIDY=$(TIDY) FUZZ=$(FUZZ) DEB=$(DEB) tools/deps
demo: SERVERS=$(FULL)
demo: deps ## three nodes and the hotel application with sample hotels, until Ctrl-C; FULL=1: with management, MySQL and RabbitMQ
	$(Q)$(MAKE) $(JOBS) all
	$(Q)BUILD=$(BUILD) FULL=$(FULL) env --default-signal=INT deploy/demo # a script's background ignores Ctrl-C
clean: ## removes what was built
	rm -rf $(BUILD)
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
