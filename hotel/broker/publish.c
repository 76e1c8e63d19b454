/* Messages out: sent one after the other, confirmed together.
 *
 * The broker confirms in its own order, several at once where it likes ("multiple"); a message that no queue
 * takes is handed back before its confirm. Tags count from 1 on the channel. */
#include "hotel/broker/broker_int.h"

#include "hotel/broker_names.h"

#include <amqp_framing.h>
#include <sys/time.h>
#include <time.h>

#define PERSISTENT 2

static enum err confirm_mode(struct broker *b, struct errmsg *em)
{
    if (!b->confirming) {
        amqp_confirm_select(b->state, BROKER_CHANNEL);
        enum err e = broker_rpc_failed(b, "asking for confirms", em);
        if (e != ERR_OK) {
            return e;
        }
        b->confirming = true;
    }
    return ERR_OK;
}

static amqp_table_entry_t header(const char *name, const char *value)
{
    amqp_table_entry_t e = {.key = amqp_cstring_bytes(name)};
    e.value.kind = AMQP_FIELD_KIND_UTF8;
    e.value.value.bytes = amqp_cstring_bytes(value);
    return e;
}

enum err broker_publish(struct broker *b, const struct broker_message *m, struct errmsg *em)
{
    amqp_table_entry_t headers[2];
    amqp_basic_properties_t p = {._flags = AMQP_BASIC_DELIVERY_MODE_FLAG, .delivery_mode = PERSISTENT};
    enum err e = confirm_mode(b, em);
    if (e != ERR_OK) {
        return e;
    }
    assert(b->sent - b->settled < BROKER_UNCONFIRMED_MAX);
    if (m->content_type != NULL) {
        p._flags |= AMQP_BASIC_CONTENT_TYPE_FLAG;
        p.content_type = amqp_cstring_bytes(m->content_type);
    }
    if (m->reason != NULL) {
        headers[p.headers.num_entries++] = header(MQ_HEADER_REASON, m->reason);
    }
    if (m->original_key != NULL) {
        headers[p.headers.num_entries++] = header(MQ_HEADER_KEY, m->original_key);
    }
    if (p.headers.num_entries > 0) {
        p._flags |= AMQP_BASIC_HEADERS_FLAG;
        p.headers.entries = headers;
    }
    int status = amqp_basic_publish(
        b->state, BROKER_CHANNEL, amqp_cstring_bytes(m->exchange), amqp_cstring_bytes(m->key), true, false,
        &p, (amqp_bytes_t){m->body.n, UNCONST(void *, m->body.p)}); /* RabbitMQ's: it reads */
    b->sent += status == AMQP_STATUS_OK ? 1 : 0;
    return status == AMQP_STATUS_OK ? ERR_OK : broker_failed(status, "publishing", em);
}

/* A message handed back: its content follows. */
static enum err read_returned(struct broker *b, struct errmsg *em)
{
    amqp_message_t message;
    amqp_rpc_reply_t r = amqp_read_message(b->state, BROKER_CHANNEL, &message, 0);
    if (r.reply_type != AMQP_RESPONSE_NORMAL) {
        return err_set(em, ERR_IO, "the message broker: a message that was handed back cannot be read");
    }
    amqp_destroy_message(&message);
    b->returned++;
    return ERR_OK;
}

/* Marks one tag, or all up to it. Tags that were never sent are no concern of ours. */
static void on_ack(struct broker *b, uint64_t tag, bool multiple)
{
    uint64_t from = multiple ? b->settled + 1 : MAX_OF(tag, b->settled + 1);
    for (uint64_t t = from; t <= MIN_OF(tag, b->sent); t++) {
        b->confirmed[t - b->settled - 1] = true;
    }
    while (b->first_open < b->sent - b->settled && b->confirmed[b->first_open]) {
        b->first_open++;
    }
}

static enum err on_method(struct broker *b, const amqp_method_t *m, struct errmsg *em)
{
    if (m->id == AMQP_BASIC_ACK_METHOD) {
        const amqp_basic_ack_t *ack = m->decoded;
        on_ack(b, ack->delivery_tag, ack->multiple);
        return ERR_OK;
    }
    if (m->id == AMQP_BASIC_NACK_METHOD) {
        return err_set(em, ERR_STATUS, "the message broker could not keep a message");
    }
    if (m->id == AMQP_BASIC_RETURN_METHOD) {
        return read_returned(b, em);
    }
    if (m->id == AMQP_CHANNEL_CLOSE_METHOD) {
        const amqp_channel_close_t *c = m->decoded;
        return err_set(em, ERR_IO, "the message broker: %.*s", (int)c->reply_text.len,
                       (const char *)c->reply_text.bytes);
    }
    if (m->id == AMQP_CONNECTION_CLOSE_METHOD) {
        return err_set(em, ERR_IO, "the message broker closes the connection");
    }
    return ERR_OK;
}

/* Takes one frame, waiting up to ms. *got false: none came. */
static enum err take_frame(struct broker *b, int64_t ms, bool *got, struct errmsg *em)
{
    struct timeval wait = broker_timeval(ms);
    amqp_frame_t frame;
    amqp_maybe_release_buffers(b->state);
    int status = amqp_simple_wait_frame_noblock(b->state, &frame, &wait);
    *got = status == AMQP_STATUS_OK;
    if (status == AMQP_STATUS_TIMEOUT) {
        return ERR_OK;
    }
    if (status != AMQP_STATUS_OK) {
        return broker_failed(status, "waiting", em);
    }
    return frame.frame_type == AMQP_FRAME_METHOD ? on_method(b, &frame.payload.method, em) : ERR_OK;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

enum err broker_confirm(struct broker *b, struct errmsg *em)
{
    int64_t until = now_ms() + b->opts.ms_max;
    uint64_t returned = b->returned;
    while (b->first_open < b->sent - b->settled) {
        bool got;
        int64_t left = until - now_ms();
        if (left <= 0) {
            return err_set(em, ERR_TIMEOUT, "the message broker does not confirm %llu messages",
                           (unsigned long long)(b->sent - b->settled - b->first_open));
        }
        enum err e = take_frame(b, left, &got, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    memset(b->confirmed, 0, sizeof(b->confirmed));
    b->settled = b->sent;
    b->first_open = 0;
    return b->returned == returned ? ERR_OK
                                   : err_set(em, ERR_STATUS, "the message broker has no queue for a message");
}

enum err broker_idle(struct broker *b, struct errmsg *em)
{
    bool got = true;
    enum err e = ERR_OK;
    while (e == ERR_OK && got) {
        e = take_frame(b, 0, &got, em);
    }
    return e;
}
