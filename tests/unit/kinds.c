/* The tables of members of all kinds of files, and the format pages, which must agree. */
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

/* The number of rows that differ between page and table, or that only one of them has, and the first of them as the
 * table has it. */
static int differences(const char *page, const sp_kind *kind, char first[1000])
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
        const char *more = at + strlen(row);
        /* the page may add a sentence or clause */
        if (strncmp(at, row, strlen(row)) || (!strchr(",;:.", *more) && strncmp(more, " |\n", 3) && *more != ' '))
            snprintf(first, count++ ? 0 : 1000, "%s", row + 1);
        else
            at = strchr(at + 1, '\n');
    }
    return count + (at[1] == '|');
}

static char *page_of(const sp_kind *kind)
{
    char name[100];
    snprintf(name, sizeof name, "formats/%s.md", kind->name);
    return source_file(name);
}

static void pages(void)
{
    int members = 0;
    for (int k = 0; sp_kinds[k]; k++) {
        char first[1000], *page = page_of(sp_kinds[k]);
        if (!page)
            continue;
        const int wrong = differences(page, sp_kinds[k], first);
        CHECK(wrong == 0, "%s.md: %d rows differ, the first is to begin: %s", sp_kinds[k]->name, wrong, first);
        for (const sp_member_rule *rule = sp_kinds[k]->rules; rule->name; rule++)
            members++;
        free(page);
    }
    NOTE("%d members", members);
}

/* `from`, in the row of the first member that has it, replaced by `to`. */
static void changed(const sp_kind *kind, const char *page, const char *from, const char *to)
{
    char first[1000];
    const char *table = strstr(page, heading), *at = table ? strstr(table + strlen(heading), from) : NULL;
    CHECK(at, "%s.md has no %s", kind->name, from);
    if (!at)
        return;
    char *other = calloc(strlen(page) + strlen(to) + 1, 1);
    sprintf(other, "%.*s%s%s", (int)(at - page), page, to, at + strlen(from));
    CHECK(differences(other, kind, first) > 0, "%s.md with %s in place of %s passes", kind->name, to, from);
    free(other);
}

/* The comparison finds differences. */
static void pages_that_differ(void)
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
static void every_page(void)
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

/* The tables themselves: unique names, symbols and companions that exist, low below high. */
static void tables(void)
{
    for (int k = 0; sp_kinds[k]; k++) {
        const sp_kind *kind = sp_kinds[k];
        CHECK(sp_kind_find(kind->name) == kind, "%s", kind->name);
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

int main(void)
{
    RUN(tables);
    RUN(pages);
    RUN(pages_that_differ);
    RUN(every_page);
    return test_end();
}
