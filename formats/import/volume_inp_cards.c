#include "formats/import/volume_inp_internal.h"

#include <string.h>

void sp_inp_pack(sp_word word, char *packed, int size)
{
    int n = 0;
    for (int64_t i = 0; i < word.length && n < size - 1; i++)
        if (word.at[i] != ' ' && word.at[i] != '\t')
            packed[n++] = word.at[i] >= 'a' && word.at[i] <= 'z' ? (char)(word.at[i] - 'a' + 'A') : word.at[i];
    packed[n] = 0;
}

sp_word sp_inp_unquote(sp_word word)
{
    if (word.length >= 2 && *word.at == '"' && word.at[word.length - 1] == '"')
        return (sp_word){word.at + 1, word.length - 2};
    return word;
}

/* Adds the parameters on the rest of the line; returns true if it ends with a comma. */
static bool add_parameters(struct inp *inp, struct inp_card *card)
{
    sp_word field, key;
    for (bool more = true; more;) {
        more = sp_text_field(&inp->in.text, ',', &field);
        if (field.length == 0 || card->count == INP_PARAMETERS)
            continue;

        sp_text parts = inp->in.text;
        parts.at = field.at;
        parts.stop = field.at + field.length;

        sp_text_field(&parts, '=', &key);
        sp_inp_pack(key, card->parameter[card->count].key, INP_KEY);
        sp_text_rest(&parts, &card->parameter[card->count].value);
        card->parameter[card->count].value = sp_inp_unquote(card->parameter[card->count].value);
        card->count++;
    }
    return field.length == 0;
}

static bool parse_card(struct inp *inp, struct inp_card *card)
{
    sp_word name;
    *card = (struct inp_card){.where = sp_volume_here(&inp->in)};
    bool more = sp_text_field(&inp->in.text, ',', &name);
    sp_inp_pack(name, card->name, INP_CARD);
    return more && add_parameters(inp, card);
}

const sp_word *sp_inp_parameter(const struct inp_card *card, const char *key)
{
    for (int i = 0; i < card->count; i++)
        if (strcmp(card->parameter[i].key, key) == 0)
            return &card->parameter[i].value;
    return NULL;
}

int sp_inp_next_line(struct inp *inp, bool *found)
{
    while ((*found = sp_volume_line(&inp->in)) && *inp->in.line == '*') {
        struct inp_card card;
        parse_card(inp, &card);
        if (strcmp(card.name, "*INCLUDE") != 0) {
            inp->in.text.at = inp->in.line;
            return SP_OK;
        }

        const sp_word *file = sp_inp_parameter(&card, "INPUT");
        if (!file)
            return sp_volume_fail_here(&inp->in, "*INCLUDE without INPUT=");
        SP_PASS(sp_volume_include(&inp->in, *file));
    }
    return SP_OK;
}

int sp_inp_read_card(struct inp *inp, struct inp_card *card)
{
    bool found, more = parse_card(inp, card);
    while (more) {
        SP_PASS(sp_inp_next_line(inp, &found));
        const char *line = inp->in.line;
        if (found && (*line == '*' || !memchr(line, '=', (size_t)(inp->in.text.stop - line))))
            inp->in.again = true;
        if (!found || inp->in.again)
            return SP_OK;
        more = add_parameters(inp, card);
    }
    return SP_OK;
}

int sp_inp_data_line(struct inp *inp, bool *found)
{
    int status = sp_inp_next_line(inp, found);
    if (status == SP_OK && *found && *inp->in.line == '*') {
        inp->in.again = true;
        *found = false;
    }
    return status;
}

int sp_inp_need_parameter(struct inp *inp, const struct inp_card *card, const char *key, sp_word *value)
{
    const sp_word *found = sp_inp_parameter(card, key);
    if (!found || found->length == 0)
        return sp_volume_fail(&inp->in, card->where, "%s without %s=", card->name, key);
    *value = *found;
    return SP_OK;
}
