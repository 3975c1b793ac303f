/* The tables of members and of keys of meta and result of all kinds of files, and the format pages, which must agree.
 */
#include "formats/kinds.h"
#include "source_file.h"

#include <ctype.h>
#include <dirent.h>
#include <string.h>

/* The beginning of a row of the page: member, type, shape and order, presence, unit, meaning. */
static void row_of(const sp_member_rule *rule, char row[1000])
{
    char shape[100], presence[100];
    snprintf(shape, sizeof shape, rule->other ? "(%s) or (%s)" : "(%s)", rule->shape, rule->other);
    const bool matrix = strchr(rule->other ? rule->other : rule->shape, ',') != NULL;
    if (rule->with)
        snprintf(presence, sizeof presence, "%swith `%s`", rule->optional ? "optional, " : "", rule->with);
    else
        snprintf(presence, sizeof presence, "%s", rule->optional ? "optional" : "required");
    snprintf(row, 1000, "\n| `%s` | %s %s%s | %s | %s | %s", rule->name,
             rule->type == SP_BYTES ? "S3" : sp_type_word(rule->type), shape,
             !matrix         ? ""
             : rule->fortran ? " Fortran"
                             : " C",
             presence, rule->unit ? rule->unit : "", rule->meaning);
}

static const char heading[] = "\n| member | type, shape, order | presence | unit | |\n|---|---|---|---|---|";

/* Likewise that of a key: name, type, unit, condition, meaning. */
static void row_of_fact(const sp_fact *fact, char row[1000])
{
    snprintf(row, 1000, "\n| `%s` | %s | %s | %s | %s", fact->name, sp_fact_type_words(fact),
             fact->unit ? fact->unit : "", fact->when ? fact->when : "", fact->meaning);
}

/* The next row if the one at `at` begins with `row`, else NULL; the page may add a sentence or clause. */
static const char *after(const char *at, const char *row)
{
    const char *more = at + strlen(row);
    if (strncmp(at, row, strlen(row)) || (!strchr(",;:.", *more) && strncmp(more, " |\n", 3) && *more != ' '))
        return NULL;
    return strchr(at + 1, '\n');
}

/* The number of rows of keys that differ between page and table, whose first column is called `word`, or that only one
 * of them has, and the first of them as the table has it. */
static int fact_differences(const char *page, const char *word, const sp_fact *facts, char first[1000])
{
    char title[100];
    snprintf(title, sizeof title, "\n| %s | type | unit | when | meaning |\n|---|---|---|---|---|", word);
    const char *at = strstr(page, title);
    int count = 0;
    if (!at != !facts)
        snprintf(first, 1000, "a table of keys of %s", word);
    if (!at || !facts)
        return !at != !facts;

    at += strlen(title);
    for (; facts->name; facts++) {
        char row[1000];
        row_of_fact(facts, row);
        const char *next = after(at, row);
        if (!next)
            snprintf(first, count++ ? 0 : 1000, "%s", row + 1);
        at = next ? next : at;
    }
    if (at[1] == '|' && !count)
        snprintf(first, 1000, "no row here: %.60s", at + 1);
    return count + (at[1] == '|');
}

/* The same of members. */
static int member_differences(const char *page, const sp_kind *kind, char first[1000])
{
    const char *at = strstr(page, heading);
    int count = 0;
    strcpy(first, "a table of members");
    if (!at)
        return 1;
    at += strlen(heading);
    for (const sp_member_rule *rule = kind->rules; rule->name; rule++) {
        char row[1000];
        row_of(rule, row);
        const char *next = after(at, row);
        if (!next)
            snprintf(first, count++ ? 0 : 1000, "%s", row + 1);
        at = next ? next : at;
    }
    return count + (at[1] == '|');
}

static int differences(const char *page, const sp_kind *kind, char first[1000])
{
    int count = member_differences(page, kind, first);
    if (!count)
        count = fact_differences(page, "meta", kind->meta, first);
    return count ? count : fact_differences(page, "result", kind->result, first);
}

static char *page_of(const sp_kind *kind)
{
    char name[100];
    snprintf(name, sizeof name, "formats/%s.md", kind->name);
    return source_file(name);
}

TEST(pages)
{
    int members = 0, keys = 0;
    for (int k = 0; sp_kinds[k]; k++) {
        char first[1000], *page = page_of(sp_kinds[k]);
        if (!page)
            continue;
        const int wrong = differences(page, sp_kinds[k], first);
        CHECK(wrong == 0, "%s.md: %d rows differ, the first is to begin: %s", sp_kinds[k]->name, wrong, first);
        for (const sp_member_rule *rule = sp_kinds[k]->rules; rule->name; rule++)
            members++;
        for (int i = 0; i < 2; i++)
            for (const sp_fact *f = i ? sp_kinds[k]->result : sp_kinds[k]->meta; f && f->name; f++)
                keys++;
        free(page);
    }
    NOTE("%d members, %d keys of meta and result", members, keys);
}

/* The keys of all files, in the page of the container. */
TEST(container)
{
    char *page = source_file("formats/container.md"), first[1000] = "";
    const char *meta = page ? strstr(page, "\n## meta,") : NULL, *result = page ? strstr(page, "\n## result,") : NULL;
    CHECK(meta && result, "container.md has no heading of meta or result");
    if (meta && result) {
        CHECK(fact_differences(meta, "key", sp_facts_of_meta, first) == 0, "the first row of meta: %s", first);
        CHECK(fact_differences(result, "key", sp_facts_of_result, first) == 0, "the first row of result: %s", first);
    }
    free(page);
}

/* `from`, in the row of the first member that has it, replaced by `to`. */
static void changed(const sp_kind *kind, const char *page, const char *from, const char *to)
{
    char first[1000];
    const char *table = strstr(page, heading), *at = table ? strstr(table + strlen(heading), from) : NULL;
    CHECK(at, "%s.md has no %s", kind->name, from);
    if (!at)
        return;
    char *other = test_new((int64_t)(strlen(page) + strlen(to) + 1), 1);
    sprintf(other, "%.*s%s%s", (int)(at - page), page, to, at + strlen(from));
    CHECK(differences(other, kind, first) > 0, "%s.md with %s in place of %s passes", kind->name, to, from);
}

/* The comparison finds differences. */
TEST(pages_that_differ)
{
    char *page = page_of(&sp_kind_mesh);
    if (!page)
        return;
    changed(&sp_kind_mesh, page, "\n| `hex` |", "\n| `hexahedra` |");
    changed(&sp_kind_mesh, page, "\n| `hex` |", "\n| `other` | i8 (nv) | optional | | more |\n| `hex` |");
    changed(&sp_kind_mesh, page, "i8 (nh, 8)", "i4 (nh, 8)");
    changed(&sp_kind_mesh, page, "(nh, 8)", "(nh, 20)");
    changed(&sp_kind_mesh, page, "(nh, 8) C", "(nh, 8) Fortran");
    changed(&sp_kind_mesh, page, "| optional |", "| required |");
    changed(&sp_kind_mesh, page, "with `cut_from`", "optional");
    changed(&sp_kind_mesh, page, "| m |", "| mm |");
    changed(&sp_kind_mesh, page, "| meta |", "| keys |");
    changed(&sp_kind_mesh, page, "\n| `up` |", "\n| `down` |");
    changed(&sp_kind_mesh, page, "\n| `up` |", "\n| `other` | integer |  |  | more |\n| `up` |");
    changed(&sp_kind_mesh, page, "\n\n## Laws", "\n| `other` | integer |  |  | more |\n\n## Laws");
    changed(&sp_kind_mesh, page, "`volume` | number | m³", "`volume` | integer | m³");
    changed(&sp_kind_mesh, page, "`volume` | number | m³", "`volume` | number | m²");
    changed(&sp_kind_mesh, page, "| `voxelize` | the edge", "|  | the edge");
    changed(&sp_kind_mesh, page, "the edge of a voxel", "half of the edge of a voxel");
    const char *row = strstr(page, "\n| `kept`"), *end = row ? strchr(row + 1, '\n') : NULL;
    CHECK(end, "mesh.md has no kept");
    char first[1000];
    if (end) {
        memmove((char *)row, end, strlen(end) + 1);
        CHECK(differences(page, &sp_kind_mesh, first) == 1 && strstr(first, "`kept`"), "%s", first);
    }
    free(page);
}

/* No page has members without a table, and the page of the container lists every kind. */
TEST(every_page)
{
    char path[4096];
    source_path("formats", path);
    DIR *folder = opendir(path);
    CHECK(folder, "%s", path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char name[300], kind[300];
        snprintf(name, sizeof name, "formats/%s", entry->d_name);
        const size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 3, ".md"))
            continue;
        char *page = source_file(name);
        snprintf(kind, sizeof kind, "%.*s", (int)length - 3, entry->d_name);
        CHECK(!page || (strstr(page, "\n| member |") != NULL) == (sp_kind_find(kind) != NULL), "%s", name);
        free(page);
    }
    if (folder)
        closedir(folder);
    char *page = source_file("formats/container.md");
    for (int k = 0; page && sp_kinds[k]; k++) {
        char word[100];
        snprintf(word, sizeof word, "`%s`", sp_kinds[k]->name);
        CHECK(strstr(page, word), "container.md does not list %s", word);
    }
    free(page);
}

/* A table of keys: unique names, none of them one of all files, and meanings that fit into a cell. */
static void check_keys(const char *name, const sp_fact *facts, const sp_fact *shared)
{
    for (const sp_fact *fact = facts; fact && fact->name; fact++) {
        CHECK(sp_fact_find(facts, fact->name) == fact, "%s: %s occurs twice", name, fact->name);
        CHECK(!sp_fact_find(shared, fact->name), "%s: %s is a key of all files", name, fact->name);
        CHECK(fact->meaning && *fact->meaning && !strchr(fact->meaning, '|'), "%s: %s has no meaning", name,
              fact->name);
    }
}

static bool fits(sp_fact fact, const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    CHECK(value, "%s", text);
    const bool it = sp_fact_fits(&fact, value);
    json_decref(value);
    return it;
}

TEST(types)
{
    const char *const hash = "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"";
    /* a value of each type, in the order of the enumeration; number has integers, too */
    const char *const value[] = {"3", "2.5", "true", "\"K\"", hash, "{}", "[1, 2]", "[0.5, 2]", "[\"a\"]", "[{}]"};
    for (int t = SP_INTEGER; t <= SP_OBJECTS; t++)
        for (int v = SP_INTEGER; v <= SP_OBJECTS; v++) {
            const bool own = t == v || (t == SP_NUMBER && v == SP_INTEGER) || (t == SP_STRING && v == SP_HASH) ||
                             (t == SP_NUMBERS && v == SP_INTEGERS);
            CHECK(fits((sp_fact){.type = (enum sp_fact_type)t}, value[v]) == own, "type %d, value %s", t, value[v]);
        }
    CHECK(fits((sp_fact){.type = SP_HASH}, "\"\"") && !fits((sp_fact){.type = SP_HASH}, "\"0123\""), "hashes");
    CHECK(fits((sp_fact){.type = SP_NUMBERS}, "[]") && !fits((sp_fact){.type = SP_NUMBERS}, "[1, \"a\"]"), "arrays");
    CHECK(!fits((sp_fact){.type = SP_NUMBER}, "null") && fits((sp_fact){.type = SP_NUMBER, .null = true}, "null"),
          "null");
    CHECK(!fits((sp_fact){.type = SP_NUMBERS}, "[1, null]") &&
              fits((sp_fact){.type = SP_NUMBERS, .null = true}, "[1, null]") &&
              !fits((sp_fact){.type = SP_NUMBERS, .null = true}, "null"),
          "null in an array");
    CHECK(!sp_fact_fits(&(sp_fact){.type = SP_NUMBER, .null = true}, NULL), "no value");
}

/* The tables themselves: unique names, symbols and companions that exist, low below high. */
TEST(tables)
{
    for (int k = 0; sp_kinds[k]; k++) {
        const sp_kind *kind = sp_kinds[k];
        CHECK(sp_kind_find(kind->name) == kind, "%s", kind->name);
        check_keys(kind->name, kind->meta, sp_facts_of_meta);
        check_keys(kind->name, kind->result, sp_facts_of_result);
        for (const sp_member_rule *rule = kind->rules; rule->name; rule++) {
            CHECK(sp_kind_rule(kind, rule->name) == rule, "%s: %s occurs twice", kind->name, rule->name);
            CHECK(rule->meaning && *rule->meaning, "%s: %s has no meaning", kind->name, rule->name);
            CHECK(!rule->ranged || rule->low < rule->high, "%s: %s", kind->name, rule->name);
            const char *const texts[] = {rule->shape, rule->other ? rule->other : "", rule->below ? rule->below : ""};
            for (int i = 0; i < 3; i++)
                for (const char *term = texts[i]; *term; term += strspn(term, ", ")) {
                    const size_t length = strcspn(term, ",");
                    bool found = strspn(term, "0123456789") == length;
                    for (const sp_symbol *symbol = kind->symbols; symbol->name; symbol++)
                        found |= strlen(symbol->name) == length && !strncmp(symbol->name, term, length);
                    CHECK(found, "%s: %s: no symbol %.*s", kind->name, rule->name, (int)length, term);
                    term += length;
                }
        }
    }
    CHECK(!sp_kind_find("matrix") && !sp_kind_find(""), "a kind that there is not");
    CHECK(sp_member_known("mesh", "kept") && !sp_member_known("mesh", "U") && sp_member_known("", "U") &&
              sp_member_known("matrix", "any") && sp_member_known("mesh", "meta"),
          "known members");
    CHECK(sp_member_known("scene_trajectory", "contact/count/000001") &&
              !sp_member_known("scene_trajectory", "contact") && !sp_member_known("scene_trajectory", "q/a/b"),
          "known series");
}
