/* embed - files into a C source that holds them: embed SYMBOL FILE... > OUT (common/base/web_files.h is
 * the table's shape). */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define FILES_MAX 64

static const struct {
    const char *ending, *type;
} types[] = {
    {".html", "text/html; charset=UTF-8"}, {".js", "text/javascript; charset=UTF-8"},
    {".css", "text/css; charset=UTF-8"},   {".svg", "image/svg+xml"},
    {".sql", "application/sql"},           {".txt", "text/plain; charset=UTF-8"},
};

static const char *type_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot != NULL && i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(dot, types[i].ending) == 0) {
            return types[i].type;
        }
    }
    return NULL;
}

/* Writes the bytes as an array; returns their FNV-1a hash, which becomes the ETag. */
static uint64_t write_bytes(FILE *in, int number)
{
    uint64_t hash = 0xCBF29CE484222325U;
    int c;
    printf("static const unsigned char bytes%d[] = {", number);
    for (size_t n = 0; (c = getc(in)) != EOF; n++) {
        hash = (hash ^ (uint64_t)c) * 0x100000001B3U;
        printf("%s%d,", n % 24 == 0 ? "\n    " : "", c);
    }
    printf("\n};\n");
    return hash;
}

int main(int argc, char **argv)
{
    uint64_t hash[FILES_MAX];
    if (argc < 3 || argc > FILES_MAX) {
        fprintf(stderr, "usage: embed SYMBOL FILE... > out.c, at most %d\n", FILES_MAX - 2);
        return 64;
    }
    printf("/* Made by tools/embed.c. */\n#include \"common/base/web_files.h\"\n\n");
    for (int i = 2; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (f == NULL || type_of(argv[i]) == NULL) {
            fprintf(stderr, "embed: %s: %s\n", argv[i],
                    f == NULL ? "cannot be read" : "no content type is known");
            return 1;
        }
        hash[i] = write_bytes(f, i);
        fclose(f);
    }
    printf("static const struct web_file files[] = {\n");
    for (int i = 2; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/');
        printf("    {\"%s\", \"%s\", \"W/\\\"%016llx\\\"\", bytes%d, sizeof(bytes%d)},\n",
               slash != NULL ? slash + 1 : argv[i], type_of(argv[i]), (unsigned long long)hash[i], i, i);
    }
    printf("};\nconst struct web_files %s = {files, sizeof(files) / sizeof(files[0])};\n", argv[1]);
    return ferror(stdout) || fflush(stdout) != 0 ? 1 : 0;
}
