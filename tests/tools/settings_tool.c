/* Prints the registered settings, a line each, fields parted by tabs: registry, name (families end with a
 * dot), kind, flags, default, smallest and largest value, choices, the mark of
 * settings that nothing reads ("none", "refused"), Elasticsearch's default and why the one here is another.
 * docs/settings.md is made of it. */
#include "common/settings/setting_registry.h"

#include <stdio.h>

static const char *const kinds[] = {
    [SETTING_TEXT] = "text",
    [SETTING_BOOL] = "boolean",
    [SETTING_INT] = "integer",
    [SETTING_LONG] = "long",
    [SETTING_DOUBLE] = "number",
    [SETTING_TIME] = "time",
    [SETTING_BYTES] = "bytes",
    [SETTING_SIZE_OR_RATIO] = "bytes or ratio",
    [SETTING_ENUM] = "one of",
    [SETTING_CHOICE] = "one of",
    [SETTING_LIST] = "list",
    [SETTING_EXPAND] = "`false`, `0-5`, `0-all`",
    [SETTING_ACTIVE] = "`all` or a number",
    [SETTING_AUTO_CREATE] = "boolean or patterns",
    [SETTING_LOG_LEVEL] = "log level",
    [SETTING_BOOL_OR_INT] = "boolean or integer",
};

static void print(const char *registry, const struct setting_def *d)
{
    printf("%s\t%s\t%s\t%s%s%s\t%s\t%lld\t%lld\t%s\t%s\t%s\t%s\n", registry, d->name, kinds[d->kind],
           d->flags & SETTING_DYNAMIC ? "dynamic " : "", d->flags & SETTING_PRIVATE ? "private " : "",
           d->flags & SETTING_FINAL ? "final " : "",
           d->shown != NULL       ? d->shown
           : d->here != NULL      ? d->here
           : d->otherwise != NULL ? d->otherwise
                                  : "",
           (long long)d->min, (long long)d->max, d->choices != NULL ? d->choices : "",
           d->flags & SETTING_REFUSED     ? "refused"
           : d->flags & SETTING_NO_EFFECT ? "none"
                                          : "",
           d->otherwise != NULL ? d->otherwise : "", d->why != NULL ? d->why : "");
}

static void print_all(const char *registry, const struct setting_registry *r)
{
    for (size_t i = 0; i < r->n; i++) {
        print(registry, &r->defs[i]);
    }
    for (size_t i = 0; i < r->n_families; i++) {
        print(registry, &r->families[i]);
    }
}

int main(void)
{
    print_all("index", &setting_registry_index);
    print_all("cluster", &setting_registry_cluster);
    return 0;
}
