/* Metadata fields: _id, _index, _seq_no ... */
#include "engine/mapping/document_int.h"
#include "engine/mapping/field_class.h"

const struct field_class field_class_meta_id = {
    .name = "_id",
    .is_metadata = true,
    .is_indexed = true,
    .is_stored = true,
    .kind = VALUE_TEXT,
    .queries = QUERIES_IDS,
    .exists = EXISTS_ALL,
};

const struct field_class field_class_meta_routing = {
    .name = "_routing",
    .is_metadata = true,
    .analysis = FIELD_WHOLE,
    .is_indexed = true,
    .is_stored = true,
    .queries = QUERIES_TERMS,
    .exists = EXISTS_TERMS,
    .takes_patterns = true,
};

static struct str name_of_index(UNUSED const struct field *f, struct str index_name)
{
    return index_name;
}

const struct field_class field_class_meta_index = {
    .name = "_index",
    .is_metadata = true,
    .is_indexed = true,
    .kind = VALUE_TEXT,
    .constant = name_of_index,
    .queries = QUERIES_CONSTANT,
    .exists = EXISTS_ALL,
};

const struct field_class field_class_meta_source = {
    .name = "_source",
    .is_metadata = true,
    .text = FIELD_TEXT_NONE,
    .exists = EXISTS_NEVER,
};

const struct field_class field_class_meta_field_names = {
    .name = "_field_names",
    .is_metadata = true,
    .is_indexed = true,
    .queries = QUERIES_TERMS,
    .exists = EXISTS_NONE,
    .refuses_ranges = true,
};

const struct field_class field_class_meta_ignored = {
    .name = "_ignored",
    .is_metadata = true,
    .analysis = FIELD_NO_ANALYZER,
    .is_indexed = true,
    .is_stored = true,
    .queries = QUERIES_TERMS,
    .exists = EXISTS_TERMS,
    .takes_patterns = true,
};

const struct field_class field_class_meta_seq_no = {
    .name = "_seq_no",
    .is_metadata = true,
    .is_indexed = true,
    .has_column = true,
    .kind = VALUE_NUMBER,
    .num = NUM_LONG,
    .queries = QUERIES_NUMBERS,
    .exists = EXISTS_ALL,
};

static enum err refuse_version(UNUSED const struct field *f, struct errmsg *em)
{
    return err_set(em, ERR_QUERY_SHARD, "VersionField field [_version] is not searchable");
}

const struct field_class field_class_meta_version = {
    .name = "_version",
    .is_metadata = true,
    .has_column = true,
    .text = FIELD_TEXT_NONE,
    .exists = EXISTS_ALL,
    .refuse_search = refuse_version,
};

static struct str name_of_type(const struct field *f, UNUSED struct str index_name)
{
    return f->const_value;
}

const struct field_class field_class_meta_type = {
    .name = "_type",
    .is_metadata = true,
    .is_indexed = true,
    .kind = VALUE_TEXT,
    .constant = name_of_type,
    .queries = QUERIES_CONSTANT,
    .exists = EXISTS_ALL,
};

const struct field_class field_class_meta_nested_path = {
    .name = "_nested_path",
    .is_metadata = true,
    .is_internal = true,
    .is_indexed = true,
    .queries = QUERIES_TERMS,
    .takes_patterns = true,
};

static enum err doc_count_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    int64_t n;
    if (v->type != JSON_NUMBER) {
        uint32_t line, col;
        json_place(p->text, v->off, &line, &col);
        return err_set_at(p->em, ERR_PARSING, line, col,
                          "Failed to parse object: expecting token of type [VALUE_NUMBER] but found [%s]",
                          json_token_name(v));
    }
    if (!json_i64(v, &n) || n <= 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Field [_doc_count] must be a positive integer. Value [%.*s] is not allowed.",
                       STR_ARG(v->s));
    }
    struct doc_value *to = doc_add(p, f, DOC_NUM);
    if (to == NULL) {
        return err_no_memory(p->em);
    }
    to->num = n;
    return ERR_OK;
}

const struct field_class field_class_meta_doc_count = {
    .name = "_doc_count",
    .is_metadata = true,
    .has_column = true,
    .value = doc_count_value,
    .exists = EXISTS_NONE,
};
