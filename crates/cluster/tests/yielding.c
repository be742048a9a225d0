/*
 * Preloaded into ranks of MPICH that share cores (./test does): whoever waits lets others run.
 *
 * MPICH on UCX asks for news without a pause, and does not yield in between, whatever
 * MPIR_CVAR_POLLS_BEFORE_YIELD says. With more ranks than cores those that wait then use up the time of
 * those that they wait for.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

enum { QUESTIONS = 20 };

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*ask)(void *);
    static __thread int in_vain;
    if (ask == NULL)
        *(void **)&ask = dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned found = ask(worker);
    in_vain = found > 0 ? 0 : in_vain + 1;
    if (in_vain > QUESTIONS)
        sched_yield();
    return found;
}
