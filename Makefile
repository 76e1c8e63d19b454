# Serai. `make help` lists the targets.
#
# One non-recursive build: every folder is a static library; the link order below is the layering, lowest last.
# Sources are found, not listed: a new .c file in a folder belongs to that folder's library.

CC      ?= gcc
BUILD   ?= build
V       ?=
Q       := $(if $(V),,@)
VARIANT ?=
OPT     ?= -O2

LAYERS := hotel coordinator data master engine proto common/cluster common/sys common/base

PKGS := libevent libevent_pthreads libevent_openssl openssl http_parser yajl icu-uc icu-i18n liblz4 libzstd libxxhash yaml-0.1 zlib
PKG_CFLAGS = $(shell pkg-config --cflags libevent yajl icu-uc icu-i18n liblz4 libzstd yaml-0.1 zlib openssl 2>/dev/null)
PKG_LIBS   = -levent -levent_pthreads -levent_openssl -lssl -lcrypto -lhttp_parser -lyajl -licui18n -licuuc -licudata \
             -lstemmer -llz4 -lzstd -lroaring -lyaml -lz -lpthread -lm

WARN   := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Werror
CFLAGS := -std=c11 -D_GNU_SOURCE -g $(OPT) $(WARN) -fno-strict-aliasing -ffp-contract=off -I. $(PKG_CFLAGS) $(EXTRA)
LDFLAGS := $(EXTRA)

sources = $(sort $(shell find $(1) -name '*.c' 2>/dev/null))
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
lib     = $(BUILD)/lib/libserai-$(subst /,-,$(1)).a

LIBS := $(foreach l,$(LAYERS),$(call lib,$(l)))

TEST_SRC  := $(sort $(shell find tests/unit -name 'test_*.c' 2>/dev/null))
TEST_HELP := $(sort $(shell find tests/unit -name '*.c' ! -name 'test_*.c' 2>/dev/null))
TEST_BIN  := $(patsubst %.c,$(BUILD)/%,$(TEST_SRC))

.PHONY: all
all: $(LIBS)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC  $@"
	$(Q)$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

define library
$(call lib,$(1)): $(call objects,$(filter-out $(MAINS),$(call sources,$(1))))
	@mkdir -p $$(@D)
	@rm -f $$@
	$(Q)ar rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(eval $(call library,$(l))))

$(TEST_BIN): $(BUILD)/tests/unit/%: $(BUILD)/obj/tests/unit/%.o $(call objects,$(TEST_HELP)) $(LIBS)
	@mkdir -p $(@D)
	@echo "  LD  $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(call objects,$(TEST_HELP)) $(LIBS) -lcheck -lsubunit -lrt $(PKG_LIBS)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
