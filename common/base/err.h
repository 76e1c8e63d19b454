/* err.h - one error vocabulary from disk to REST.
 *
 * A function that can fail returns an `enum err` and fills a `struct errmsg` that its caller owns (NULL when the
 * caller does not care). An errmsg is two pointers: to a chain of frames, outermost first, as Elasticsearch nests
 * `caused_by`, and to the arena that frames are put into. The outermost frame decides the HTTP status and the
 * `type` of the answer. Nobody logs *and* returns.
 *
 * Frames do not change once they are made, and live as long as their arena: an errmsg may be copied by value
 * while that lives, and err_copy() takes an error into the arena of another. Whoever declares an errmsg names the
 * arena: err_in() of one that is there, or ERR_LOCAL() for an error that ends with its block. Attempts whose
 * failure is no failure want an ERR_LOCAL(): what they leave behind would stay in a request's arena.
 *
 * The table gives each code its HTTP status, its REST type, and its family, which decides what `root_cause` shows:
 *   ES    an ElasticsearchException: root_cause is the innermost frame of an unbroken ES run from the outside
 *   XC    a content-parsing error: its cause is looked into when that is XC or ES
 *   JAVA  any other: it is its own root cause */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "common/base/arena.h"

#include <stdarg.h>

enum err_family { ERR_FAMILY_ES, ERR_FAMILY_XC, ERR_FAMILY_JAVA };

#define ERR_MAP(X) /* code, HTTP status, REST type, family */                                        \
    X(ERR_OK, 200, "", JAVA)                                                                         \
    X(ERR_INTERNAL, 500, "exception", ES)                                                            \
    X(ERR_IO, 500, "i_o_exception", JAVA)                                                            \
    X(ERR_CORRUPT, 500, "corrupt_index_exception", JAVA)                                             \
    X(ERR_NO_MEMORY, 429, "circuit_breaking_exception", ES)                                          \
    X(ERR_REJECTED, 429, "es_rejected_execution_exception", JAVA)                                    \
    X(ERR_TIMEOUT, 500, "timeout_exception", ES)                                                     \
    X(ERR_PROCESS_EVENT_TIMEOUT, 503, "process_cluster_event_timeout_exception", ES)                 \
    X(ERR_CANCELLED, 400, "task_cancelled_exception", ES)                                            \
    X(ERR_PARSING, 400, "parsing_exception", ES)                                                     \
    X(ERR_PARSE, 400, "parse_exception", ES)                                                         \
    X(ERR_QUERY_SYNTAX, 400, "parse_exception", JAVA) /* Lucene's, of query texts and expressions */ \
    X(ERR_X_CONTENT, 400, "x_content_parse_exception", XC)                                           \
    X(ERR_CONTENT_TYPE_HEADER, 400, "content_type_header_exception", ES)                             \
    X(ERR_BAD_PARAMETER, 400, "bad_parameter_exception", JAVA)                                       \
    X(ERR_NAMED_OBJECT, 400, "named_object_not_found_exception", XC)                                 \
    X(ERR_NOT_X_CONTENT, 400, "not_x_content_exception", JAVA)                                       \
    X(ERR_JSON, 400, "json_parse_exception", JAVA)                                                   \
    X(ERR_JSON_EOF, 400, "json_e_o_f_exception", JAVA)                                               \
    X(ERR_INPUT_COERCION, 500, "input_coercion_exception", JAVA)                                     \
    X(ERR_ILLEGAL_ARGUMENT, 400, "illegal_argument_exception", JAVA)                                 \
    X(ERR_UNWRITABLE, 400, "illegal_argument_exception", JAVA) /* as JSON */                         \
    X(ERR_NUMBER_FORMAT, 400, "number_format_exception", JAVA)                                       \
    X(ERR_CONFIG_ERROR, 500, "config_error_exception", JAVA)                                         \
    X(ERR_PATTERN_SYNTAX, 400, "pattern_syntax_exception", JAVA)                                     \
    X(ERR_ARITHMETIC, 500, "arithmetic_exception", JAVA)                                             \
    X(ERR_ILLEGAL_STATE, 500, "illegal_state_exception", JAVA)                                       \
    X(ERR_UNSUPPORTED, 500, "unsupported_operation_exception", JAVA)                                 \
    X(ERR_CLASS_CAST, 500, "class_cast_exception", JAVA)                                             \
    X(ERR_NULL_POINTER, 500, "null_pointer_exception", JAVA)                                         \
    X(ERR_INDEX_BOUNDS, 500, "index_out_of_bounds_exception", JAVA)                                  \
    X(ERR_ARRAY_BOUNDS, 500, "array_index_out_of_bounds_exception", JAVA)                            \
    X(ERR_STRING_BOUNDS, 500, "string_index_out_of_bounds_exception", JAVA)                          \
    X(ERR_DATE_TIME_PARSE, 500, "date_time_parse_exception", JAVA)                                   \
    X(ERR_DATE_TIME, 500, "date_time_exception", JAVA)                                               \
    X(ERR_ZONE_RULES, 500, "zone_rules_exception", JAVA)                                             \
    X(ERR_TOKEN_MGR, 500, "token_mgr_error", JAVA)                                                   \
    X(ERR_PART_UNUSABLE, 400, "illegal_argument_exception", JAVA) /* once used */                    \
    X(ERR_MISSING_RESOURCE, 500, "missing_resource_exception", JAVA)                                 \
    X(ERR_MAX_BYTES, 500, "max_bytes_length_exceeded_exception", JAVA)                               \
    X(ERR_TOO_COMPLEX, 500, "too_complex_to_determinize_exception", JAVA)                            \
    X(ERR_TOO_MANY_CLAUSES, 500, "too_many_clauses", JAVA)                                           \
    X(ERR_TOO_MANY_BUCKETS, 503, "too_many_buckets_exception", ES)                                   \
    X(ERR_ACTION_VALIDATION, 400, "action_request_validation_exception", JAVA)                       \
    X(ERR_VALIDATION, 400, "validation_exception", JAVA)                                             \
    X(ERR_QUERY_VALIDATION, 400, "query_validation_exception", JAVA)                                 \
    X(ERR_MAPPER_PARSING, 400, "mapper_parsing_exception", ES)                                       \
    X(ERR_MAPPER, 500, "mapper_exception", ES)                                                       \
    X(ERR_STRICT_DYNAMIC, 400, "strict_dynamic_mapping_exception", ES)                               \
    X(ERR_QUERY_SHARD, 400, "query_shard_exception", ES)                                             \
    X(ERR_SEARCH, 500, "search_exception", ES)                                                       \
    X(ERR_SEARCH_PARSE, 400, "search_parse_exception", ES)                                           \
    X(ERR_SEARCH_PHASE, 503, "search_phase_execution_exception", ES)                                 \
    X(ERR_SEARCH_CONTEXT_MISSING, 404, "search_context_missing_exception", ES)                       \
    X(ERR_AGG_EXECUTION, 500, "aggregation_execution_exception", ES)                                 \
    X(ERR_AGG_INIT, 500, "aggregation_initialization_exception", ES)                                 \
    X(ERR_SCRIPT, 400, "script_exception", ES)                                                       \
    X(ERR_GENERAL_SCRIPT, 500, "general_script_exception", ES)                                       \
    X(ERR_MUSTACHE, 500, "mustache_exception", JAVA)                                                 \
    X(ERR_MUSTACHE_NOT_FOUND, 500, "mustache_not_found_exception", JAVA)                             \
    X(ERR_PAINLESS, 500, "painless_error", JAVA)                                                     \
    X(ERR_RUNTIME, 500, "runtime_exception", JAVA)                                                   \
    X(ERR_WRONG_METHOD_TYPE, 500, "wrong_method_type_exception", JAVA)                               \
    X(ERR_CONCURRENT_MODIFICATION, 500, "concurrent_modification_exception", JAVA)                   \
    X(ERR_NO_SUCH_ELEMENT, 500, "no_such_element_exception", JAVA)                                   \
    X(ERR_INDEX_NOT_FOUND, 404, "index_not_found_exception", ES)                                     \
    X(ERR_INDEX_EXISTS, 400, "resource_already_exists_exception", ES)                                \
    X(ERR_INDEX_CLOSED, 400, "index_closed_exception", ES)                                           \
    X(ERR_INVALID_INDEX_NAME, 400, "invalid_index_name_exception", ES)                               \
    X(ERR_INVALID_ALIAS_NAME, 400, "invalid_alias_name_exception", ES)                               \
    X(ERR_INVALID_TYPE_NAME, 400, "invalid_type_name_exception", ES)                                 \
    X(ERR_ALIASES_NOT_FOUND, 404, "aliases_not_found_exception", ES)                                 \
    X(ERR_INVALID_TEMPLATE, 400, "invalid_index_template_exception", ES)                             \
    X(ERR_TEMPLATE_MISSING, 404, "index_template_missing_exception", ES)                             \
    X(ERR_RESOURCE_NOT_FOUND, 404, "resource_not_found_exception", ES)                               \
    X(ERR_TYPE_MISSING, 404, "type_missing_exception", ES)                                           \
    X(ERR_REPOSITORY, 500, "repository_exception", ES)                                               \
    X(ERR_REPOSITORY_MISSING, 404, "repository_missing_exception", ES)                               \
    X(ERR_INVALID_SNAPSHOT_NAME, 400, "invalid_snapshot_name_exception", ES)                         \
    X(ERR_CLUSTER_BLOCK, 403, "cluster_block_exception", ES)                                         \
    X(ERR_NO_MASTER, 503, "master_not_discovered_exception", ES)                                     \
    X(ERR_UNAVAILABLE_SHARDS, 503, "unavailable_shards_exception", ES)                               \
    X(ERR_NO_SHARD, 503, "no_shard_available_action_exception", ES)                                  \
    X(ERR_NOT_PRIMARY, 503, "shard_not_in_primary_mode_exception", ES)                               \
    X(ERR_SHARD_NOT_FOUND, 404, "shard_not_found_exception", ES)                                     \
    X(ERR_FAILED_NODE, 500, "failed_node_exception", ES)                                             \
    X(ERR_NO_SUCH_NODE, 500, "no_such_node_exception", ES)                                           \
    X(ERR_NODE_CLOSED, 500, "node_closed_exception", ES)                                             \
    X(ERR_NODE_NOT_CONNECTED, 500, "node_not_connected_exception", ES)                               \
    X(ERR_NODE_DISCONNECTED, 500, "node_disconnected_exception", ES)                                 \
    X(ERR_RECEIVE_TIMEOUT, 500, "receive_timeout_transport_exception", ES)                           \
    X(ERR_CONFLICT, 409, "version_conflict_engine_exception", ES)                                    \
    X(ERR_STALE_TERM, 500, "illegal_index_shard_state_exception", ES)                                \
    X(ERR_DOCUMENT_MISSING, 404, "document_missing_exception", ES)                                   \
    X(ERR_SOURCE_MISSING, 400, "document_source_missing_exception", ES)                              \
    X(ERR_ROUTING_MISSING, 400, "routing_missing_exception", ES)                                     \
    X(ERR_CLASS_NOT_FOUND, 500, "class_not_found_exception", JAVA)                                   \
    X(ERR_NO_SUCH_FILE, 500, "no_such_file_exception", JAVA)                                         \
    X(ERR_SETTINGS, 500, "settings_exception", ES)                                                   \
    X(ERR_STATUS, 400, "status_exception", ES)                                                       \
    X(ERR_TOO_LONG_FRAME, 400, "too_long_frame_exception", JAVA)                                     \
    X(ERR_SECURITY, 401, "security_exception", ES)                                                   \
    X(ERR_NOT_MASTER, 503, "not_master_exception", ES)                                               \
    X(ERR_FAILED_TO_COMMIT, 503, "failed_to_commit_cluster_state_exception", ES)                     \
    X(ERR_NO_VIABLE_ALT, 500, "no_viable_alt_exception", JAVA)                                       \
    X(ERR_LEXER_NO_VIABLE_ALT, 500, "lexer_no_viable_alt_exception", JAVA)                           \
    X(ERR_INPUT_MISMATCH, 500, "input_mismatch_exception", JAVA)                                     \
    X(ERR_NEGATIVE_ARRAY_SIZE, 500, "negative_array_size_exception", JAVA)                           \
    X(ERR_STACK_OVERFLOW, 500, "stack_overflow_error", JAVA)                                         \
    X(ERR_UNSUPPORTED_TEMPORAL, 500, "unsupported_temporal_type_exception", JAVA)                    \
    X(ERR_FAIL_PROCESSOR, 500, "fail_processor_exception", JAVA)                                     \
    X(ERR_DISSECT, 500, "find_match", JAVA)                                                          \
    X(ERR_DISSECT_KEY, 500, "key_parse", JAVA)                                                       \
    X(ERR_DISSECT_PARSE, 500, "pattern_parse", JAVA)

enum err {
#define ERR_ENUM(code, status, type, family) code,
    ERR_MAP(ERR_ENUM)
#undef ERR_ENUM
        ERR_COUNT
};

int err_status(enum err e);       /* HTTP status */
const char *err_type(enum err e); /* REST type */
enum err_family err_family(enum err e);

#define ERR_REASON_BYTES   512 /* for those that keep the beginning of a reason in a struct of theirs */
#define ERR_REASON_MAX     ((size_t)64 * KIB) /* a longer reason is cut, at a character's boundary */
#define ERR_FRAMES_MAX     64U
#define ERR_SUPPRESSED_MAX 64U

/* What a circuit_breaking_exception says beside its reason. */
struct err_refused {
    int64_t bytes_wanted, bytes_limit;
    bool lasting; /* what is in the way is kept for later requests, and does not go with those that run */
};

/* The subject of an error; shown beside the frames that name it. A text that is not there is "". */
struct err_about {
    const char *index, *index_uuid;
    const char *resource_type, *resource_id;
    int shard; /* -1: none */
    /* script_exception only: the source, the language, and where in it: bytes of the source, when `script_placed` */
    const char *script, *lang;
    const char
        *script_id; /* of a stored one that failed while it ran, which is shown in its place; "": none */
    bool script_placed;
    uint32_t script_at, script_start, script_end;
    int64_t limit;              /* too_many_buckets_exception only: `max_buckets` */
    struct err_refused refused; /* circuit_breaking_exception only */
    /* of definitions of pipelines only: which processor and which of its properties; kept on one node */
    const char *processor_type, *processor_tag, *property;
    int http_status; /* replaces the table's; 0: it does not */
};

struct err_frame {
    enum err code;
    uint32_t line, col; /* 1-based place in the request body; 0, 0 where there is none */
    uint32_t depth;     /* frames from this one inwards */
    const char *reason;
    const struct err_frame *cause; /* NULL: this is the innermost */
};

struct errmsg {
    const struct err_frame *frame;           /* the outermost; NULL: no error */
    const struct err_about *about;           /* NULL: nothing; see err_about() */
    const struct err_suppressed *suppressed; /* NULL: none */
    struct arena *arena; /* where frames go; NULL: nowhere, and codes are all that is kept */
};
_Static_assert(sizeof(struct errmsg) <= 32, "errors are passed by value");

/* Other mistakes of the same request, shown beside the outermost frame: the newest, and those before it. */
struct err_suppressed {
    const struct err_frame *frame;
    const struct err_about *about; /* NULL: nothing */
    const struct err_suppressed *before;
    uint32_t n;
};

/* No error; those to come go into the arena. */
static inline struct errmsg err_in(struct arena *a)
{
    return (struct errmsg){.arena = a};
}
static inline void err_local_end(struct arena *a)
{
    if (a->chunks != NULL) {
        arena_fini(a);
    }
}
/* Declares `em`, without an error: what is put into it ends with the block. */
#define ERR_LOCAL(em)                                     \
    struct arena em##_arena CLEANUP(err_local_end) = {0}; \
    struct errmsg em = err_in(&em##_arena)

/* Makes it empty. */
static inline void err_clear(struct errmsg *em)
{
    if (em != NULL) {
        *em = err_in(em->arena);
    }
}
/* Makes `to` (NULL ok) the error that `from` is, in its own arena. */
void err_copy(struct errmsg *to, const struct errmsg *from);
/* A copy of em in the arena, for whoever asks later whether something failed. err_out_of_memory() where there is no room, never NULL:
 * what has failed must not pass for done because its error found no room. */
struct errmsg *err_keep(struct arena *a, const struct errmsg *em);
/* Always at hand, never to be written to. */
struct errmsg *err_out_of_memory(void);
/* Replaces whatever em holds with one frame. Returns `e`, so that a call site stays one line. em may be NULL. */
enum err err_set(struct errmsg *em, enum err e, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* As err_set, at a place in the body. */
enum err err_set_at(struct errmsg *em, enum err e, uint32_t line, uint32_t col, const char *fmt, ...)
    PRINTF_LIKE(5, 6);
/* As both; line and col 0: no place. */
enum err err_setv(struct errmsg *em, enum err e, uint32_t line, uint32_t col, const char *fmt, va_list ap)
    PRINTF_LIKE(5, 0);
/* As err_set, with "[line:col] " before the reason. */
enum err err_setv_placed(struct errmsg *em, enum err e, uint32_t line, uint32_t col, const char *fmt,
                         va_list ap) PRINTF_LIKE(5, 0);
/* Puts a new outermost frame around what em holds (which becomes its `caused_by`). Of a chain that is full the
 * frame that was the outermost goes. */
enum err err_wrap(struct errmsg *em, enum err e, const char *fmt, ...) PRINTF_LIKE(3, 4);
enum err err_wrap_at(struct errmsg *em, enum err e, uint32_t line, uint32_t col, const char *fmt, ...)
    PRINTF_LIKE(5, 6);
enum err err_wrapv_placed(struct errmsg *em, enum err e, uint32_t line, uint32_t col, const char *fmt,
                          va_list ap) PRINTF_LIKE(5, 0);
/* Prefixes the outermost reason: "no space left" -> "flush [hotel][2]: no space left". Returns the code. */
enum err err_prefix(struct errmsg *em, enum err e, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Keeps `other` as one that `em`'s hides; past ERR_SUPPRESSED_MAX they are dropped. */
void err_suppress(struct errmsg *em, const struct errmsg *other);
/* Allocation failed: the breaker's answer. */
enum err err_no_memory(struct errmsg *em);
/* errno as ERR_IO: "<what>: <strerror>". */
enum err err_errno(struct errmsg *em, int errnum, const char *what);

/* Names the index (uuid may be NULL or "_na_"), the shard, the resource that the error is about, or the HTTP status that it is answered
 * with. */
void err_about_index(struct errmsg *em, struct str index, struct str uuid);
void err_about_shard(struct errmsg *em, int shard);
void err_about_resource(struct errmsg *em, const char *type, struct str id);
void err_about_status(struct errmsg *em, int http_status);
/* Names the processor of a pipeline's definition and its property (n == 0: none). */
void err_about_processor(struct errmsg *em, struct str type, struct str tag, struct str property);
/* What the error is about, to be changed at once, with texts that live as long as em->arena. NULL: there is no memory, or em is NULL. */
struct err_about *err_about_change(struct errmsg *em);
/* A copy of a text for it. */
const char *err_text(const struct errmsg *em, struct str s);
/* What the error is about; never NULL. */
const struct err_about *err_about(const struct errmsg *em);

/* Is there an error? */
static inline bool err_is(const struct errmsg *em)
{
    return em->frame != NULL;
}
/* Code of the outermost frame, ERR_OK when empty. */
static inline enum err err_code(const struct errmsg *em)
{
    return em->frame != NULL ? em->frame->code : ERR_OK;
}
/* Its reason; "" when empty, and for NULL. */
static inline const char *err_reason(const struct errmsg *em)
{
    return em != NULL && em->frame != NULL ? em->frame->reason : "";
}
/* The frame that all others are around; NULL when empty. */
const struct err_frame *err_innermost(const struct errmsg *em);
/* HTTP status of the whole. */
int err_http_status(const struct errmsg *em);
/* The frame that `root_cause` shows (see the families above); NULL when empty. */
const struct err_frame *err_root(const struct errmsg *em);

#endif
