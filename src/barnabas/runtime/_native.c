/* The function of foreseen.py, in C: the same results, in the few microseconds before the client falls asleep.
 *
 * What a peer sent is only compared, with bytes of known length, in a buffer that is one byte longer. Nothing
 * waits; other threads have the interpreter meanwhile. Built against the stable ABI of Python 3.11. */

#define _GNU_SOURCE
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { CORRELATION_SIZE = 4, REPLY_CORRELATION_AT = 4, REQUEST_MAX = 4096, NOT_ASKED = -1 };

typedef struct {
    const char *before, *after;
    Py_ssize_t before_size, after_size;
} Request;

/* Whether it waits in the socket, alone and whole; it stays there. */
static int is_there(int peer, const Request *expected, Py_ssize_t size, uint8_t *found) {
    return recv(peer, found, (size_t)size + 1, MSG_PEEK | MSG_DONTWAIT) == size
        && memcmp(found, expected->before, (size_t)expected->before_size) == 0
        && memcmp(found + expected->before_size + CORRELATION_SIZE, expected->after, (size_t)expected->after_size)
            == 0;
}

static Py_ssize_t answer(int peer, const Request *expected, const Py_buffer *reply) {
    uint8_t request[REQUEST_MAX + 1], *bytes = reply->buf;
    Py_ssize_t size = expected->before_size + CORRELATION_SIZE + expected->after_size;
    if (size > REQUEST_MAX || !is_there(peer, expected, size, request)) return NOT_ASKED;
    memcpy(bytes + REPLY_CORRELATION_AT, request + expected->before_size, CORRELATION_SIZE);
    ssize_t sent = send(peer, bytes, (size_t)reply->len, MSG_DONTWAIT | MSG_NOSIGNAL);
    /* Only now, because the client waits. The bytes are there; should they not be, the connection is gone, and
     * what has been sent must not be sent again. */
    ssize_t taken = recv(peer, request, (size_t)size, MSG_DONTWAIT);
    (void)taken;
    return sent < 0 ? 0 : sent;
}

static Py_ssize_t look(int epoll, int peer, long looks, const Request *expected, const Py_buffer *reply) {
    struct epoll_event events[2];
    int count = 0;
    for (long i = 0; i < looks && count == 0; i++) count = epoll_wait(epoll, events, 2, 0);
    int is_asked = count == 1 && events[0].data.fd == peer && events[0].events == EPOLLIN;
    return is_asked ? answer(peer, expected, reply) : NOT_ASKED;
}

static int as_descriptor(PyObject *object, void *descriptor) {
    int found = PyObject_AsFileDescriptor(object);
    *(int *)descriptor = found;
    return found >= 0;
}

static PyObject *reply_when_asked(PyObject *Py_UNUSED(module), PyObject *arguments) {
    int epoll, peer;
    long looks;
    Request expected;
    Py_buffer reply;
    if (!PyArg_ParseTuple(arguments, "O&O&ly#y#w*", as_descriptor, &epoll, as_descriptor, &peer, &looks,
            &expected.before, &expected.before_size, &expected.after, &expected.after_size, &reply))
        return NULL;
    Py_ssize_t sent = NOT_ASKED;
    if (reply.len >= REPLY_CORRELATION_AT + CORRELATION_SIZE) {
        Py_BEGIN_ALLOW_THREADS
        sent = look(epoll, peer, looks, &expected, &reply);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&reply);
    return PyLong_FromSsize_t(sent);
}

static PyMethodDef methods[] = {
    {"reply_when_asked", reply_when_asked, METH_VARARGS, "See foreseen.reply_when_asked_in_python."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "barnabas.runtime._native", "Answer what was foreseen.", 0, methods, slots,
    NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&module); }
