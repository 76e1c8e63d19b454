/* The callbacks that a thread's task has put off (later.h). */
#include "common/base/later.h"

static _Thread_local struct later_list *list_of_thread; /* the innermost task's */

void later(struct later *l, void (*run)(struct later *l))
{
    struct later_list *list = list_of_thread;
    assert(list != NULL);
    l->next = NULL;
    l->run = run;
    *list->last = l;
    list->last = &l->next;
}

static void run_all(struct later_list *list)
{
    while (list->first != NULL) {
        struct later *l = list->first;
        list->first = l->next;
        if (list->first == NULL) {
            list->last = &list->first;
        }
        l->run(l); /* l may be gone */
    }
}

void later_open(struct later_list *list)
{
    *list = (struct later_list){.last = &list->first, .outer = list_of_thread};
    list_of_thread = list;
}

void later_close(struct later_list *list)
{
    assert(list_of_thread == list);
    run_all(list);
    list_of_thread = list->outer;
}

void later_task(void (*run)(void *arg), void *arg)
{
    struct later_list list;
    later_open(&list);
    run(arg);
    later_close(&list);
}

void later_run(void)
{
    if (list_of_thread != NULL) {
        run_all(list_of_thread);
    }
}

struct later_list *later_switch(struct later_list *list)
{
    struct later_list *left = list_of_thread;
    list_of_thread = list;
    return left;
}
