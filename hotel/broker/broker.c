#include "hotel/broker/broker_int.h"

#include "hotel/broker_names.h"

#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <stdlib.h>
#include <sys/time.h>

#define HEARTBEAT_S 30
#define FRAME_BYTES 131072

struct timeval broker_timeval(int64_t ms)
{
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000 * 1000)};
}

enum err broker_failed(int status, const char *doing, struct errmsg *em)
{
    enum err e = status == AMQP_STATUS_TIMEOUT     ? ERR_TIMEOUT
                 : status == AMQP_STATUS_NO_MEMORY ? ERR_NO_MEMORY
                                                   : ERR_IO;
    return err_set(em, e, "the message broker: %s: %s", doing, amqp_error_string2(status));
}

enum err broker_rpc_failed(struct broker *b, const char *doing, struct errmsg *em)
{
    amqp_rpc_reply_t r = amqp_get_rpc_reply(b->state);
    if (r.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION) {
        return broker_failed(r.library_error, doing, em);
    }
    if (r.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION && r.reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
        const amqp_channel_close_t *m = r.reply.decoded;
        return err_set(em, ERR_IO, "the message broker: %s: %.*s", doing, (int)m->reply_text.len,
                       (const char *)m->reply_text.bytes);
    }
    if (r.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION && r.reply.id == AMQP_CONNECTION_CLOSE_METHOD) {
        const amqp_connection_close_t *m = r.reply.decoded;
        return err_set(em, ERR_IO, "the message broker: %s: %.*s", doing, (int)m->reply_text.len,
                       (const char *)m->reply_text.bytes);
    }
    return r.reply_type == AMQP_RESPONSE_NORMAL
               ? ERR_OK
               : err_set(em, ERR_IO, "the message broker: %s: no answer", doing);
}

static enum err declare(struct broker *b, struct errmsg *em)
{
    static const struct {
        const char *queue, *key;
    } queues[] = {{MQ_INSERT_QUEUE, MQ_INSERT_KEY}, {MQ_DELETE_QUEUE, MQ_DELETE_KEY}, {MQ_DEAD_QUEUE, NULL}};
    const amqp_bytes_t exchange = amqp_cstring_bytes(MQ_EXCHANGE);
    amqp_exchange_declare(b->state, BROKER_CHANNEL, exchange, amqp_cstring_bytes(MQ_EXCHANGE_TYPE), false,
                          true, false, false, amqp_empty_table);
    enum err e = broker_rpc_failed(b, "declaring " MQ_EXCHANGE, em);
    for (size_t i = 0; i < ARRAY_LEN(queues) && e == ERR_OK; i++) {
        const amqp_bytes_t queue = amqp_cstring_bytes(queues[i].queue);
        amqp_queue_declare(b->state, BROKER_CHANNEL, queue, false, true, false, false, amqp_empty_table);
        e = broker_rpc_failed(b, queues[i].queue, em);
        if (e == ERR_OK && queues[i].key != NULL) {
            amqp_queue_bind(b->state, BROKER_CHANNEL, queue, exchange, amqp_cstring_bytes(queues[i].key),
                            amqp_empty_table);
            e = broker_rpc_failed(b, queues[i].key, em);
        }
    }
    return e;
}

static enum err connect_to(struct broker *b, struct errmsg *em)
{
    const struct service_url *u = b->opts.url;
    struct timeval connect = broker_timeval(b->opts.connect_ms_max), answer = broker_timeval(b->opts.ms_max);
    amqp_socket_t *socket = amqp_tcp_socket_new(b->state);
    if (socket == NULL || amqp_set_handshake_timeout(b->state, &connect) != 0
        || amqp_set_rpc_timeout(b->state, &answer) != 0) {
        return err_no_memory(em);
    }
    int status = amqp_socket_open_noblock(socket, u->host.p, (int)u->port, &connect);
    if (status != AMQP_STATUS_OK) {
        return broker_failed(status, "connecting", em);
    }
    amqp_rpc_reply_t r =
        amqp_login(b->state, u->path.n > 0 ? u->path.p : "/", 0, FRAME_BYTES,
                   (int)(b->opts.heartbeat_s > 0 ? b->opts.heartbeat_s : HEARTBEAT_S), AMQP_SASL_METHOD_PLAIN,
                   u->user.n > 0 ? u->user.p : "guest", u->user.n > 0 ? u->password.p : "guest");
    if (r.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION) {
        return broker_failed(r.library_error, "logging in", em);
    }
    if (r.reply_type != AMQP_RESPONSE_NORMAL) {
        return err_set(em, ERR_IO, "the message broker: it refuses user [%.*s] at [%s]", STR_ARG(u->user),
                       u->path.n > 0 ? u->path.p : "/");
    }
    amqp_channel_open(b->state, BROKER_CHANNEL);
    return broker_rpc_failed(b, "opening a channel", em);
}

enum err broker_open(struct broker **out, const struct broker_opts *opts, struct errmsg *em)
{
    struct broker *b = calloc(1, sizeof(*b));
    *out = NULL;
    if (b == NULL || (b->state = amqp_new_connection()) == NULL) {
        free(b);
        return err_no_memory(em);
    }
    b->opts = *opts;
    enum err e = connect_to(b, em);
    e = e != ERR_OK ? e : declare(b, em);
    if (e != ERR_OK) {
        broker_close(b);
        return e;
    }
    *out = b;
    return ERR_OK;
}

void broker_close(struct broker *b)
{
    if (b != NULL) {
        amqp_connection_close(b->state, AMQP_REPLY_SUCCESS);
        amqp_destroy_connection(b->state);
        free(b);
    }
}

/* ---- in ---- */

enum err broker_consume(struct broker *b, const char *queue, unsigned prefetch, struct errmsg *em)
{
    /* Not "global", which RabbitMQ takes for each consumer that is made from here on. */
    amqp_basic_qos(b->state, BROKER_CHANNEL, 0, (uint16_t)prefetch, false);
    enum err e = broker_rpc_failed(b, "setting the prefetch", em);
    if (e == ERR_OK) {
        amqp_basic_consume(b->state, BROKER_CHANNEL, amqp_cstring_bytes(queue), amqp_empty_bytes, false,
                           false, false, amqp_empty_table);
        e = broker_rpc_failed(b, queue, em);
    }
    return e;
}

static struct str broker_copy(struct arena *arena, amqp_bytes_t bytes)
{
    return arena_str(arena, str_mk(bytes.bytes, bytes.len));
}

static enum err broker_take(struct arena *arena, const amqp_envelope_t *env, struct broker_delivery *out,
                            struct errmsg *em)
{
    const amqp_basic_properties_t *p = &env->message.properties;
    bool typed = (p->_flags & AMQP_BASIC_CONTENT_TYPE_FLAG) != 0;
    *out = (struct broker_delivery){
        .tag = env->delivery_tag,
        .key = broker_copy(arena, env->routing_key),
        .content_type = typed ? broker_copy(arena, p->content_type) : STR(""),
        .body = broker_copy(arena, env->message.body),
    };
    return out->key.p != NULL && out->content_type.p != NULL && out->body.p != NULL ? ERR_OK
                                                                                    : err_no_memory(em);
}

enum err broker_next(struct broker *b, int64_t ms, struct arena *arena, struct broker_delivery *out,
                     bool *got, struct errmsg *em)
{
    struct timeval wait = broker_timeval(ms);
    amqp_envelope_t env;
    *got = false;
    amqp_maybe_release_buffers(b->state);
    amqp_rpc_reply_t r = amqp_consume_message(b->state, &env, &wait, 0);
    if (r.reply_type == AMQP_RESPONSE_NORMAL) {
        enum err e = broker_take(arena, &env, out, em);
        amqp_destroy_envelope(&env);
        *got = e == ERR_OK;
        return e;
    }
    if (r.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION && r.library_error == AMQP_STATUS_TIMEOUT) {
        return ERR_OK;
    }
    /* Whatever else came (a cancelled consumer, a closed channel) ends this connection's use. */
    return broker_failed(r.library_error, "waiting for messages", em);
}

enum err broker_ack(struct broker *b, uint64_t tag, bool all, struct errmsg *em)
{
    int status = amqp_basic_ack(b->state, BROKER_CHANNEL, tag, all);
    return status == AMQP_STATUS_OK ? ERR_OK : broker_failed(status, "acknowledging", em);
}

/* ---- beside ---- */

enum err broker_queue_state(struct broker *b, const char *queue, struct broker_queue *out, struct errmsg *em)
{
    const amqp_queue_declare_ok_t *r = amqp_queue_declare(b->state, BROKER_CHANNEL, amqp_cstring_bytes(queue),
                                                          true, true, false, false, amqp_empty_table);
    *out = (struct broker_queue){0};
    if (r == NULL) {
        enum err e = broker_rpc_failed(b, queue, em);
        return e != ERR_OK ? e : err_set(em, ERR_IO, "the message broker: %s: no answer", queue);
    }
    *out = (struct broker_queue){r->message_count, r->consumer_count};
    amqp_maybe_release_buffers(b->state);
    return ERR_OK;
}
