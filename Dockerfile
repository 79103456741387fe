# One image for every process of a deployment; compose.yaml says which command each runs. dev/pin_images.py renews the digests.
FROM python:3.11-slim-bookworm@sha256:0bee7276f83efd4a1ee05bbbf4281d95ed28e079220a9457f25a93e3f1e3c31b AS packages
RUN python -m venv /opt/venv
COPY requirements/base.txt /tmp/base.txt
RUN /opt/venv/bin/pip install --no-cache-dir --require-hashes -r /tmp/base.txt

# PgBouncer from PostgreSQL's own repository: Debian's is too old to follow prepared statements, and the build fails rather than take it.
FROM python:3.11-slim-bookworm@sha256:0bee7276f83efd4a1ee05bbbf4281d95ed28e079220a9457f25a93e3f1e3c31b AS pooler
RUN apt-get update \
    && apt-get install -y --no-install-recommends postgresql-common ca-certificates \
    && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y \
    && apt-get install -y --no-install-recommends pgbouncer \
    && dpkg --compare-versions "$(dpkg-query -W -f '${Version}' pgbouncer)" ge 1.21 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10002 pooler
COPY config/pooler/start.sh /usr/local/bin/start-pooler
ENV PATH=$PATH:/usr/sbin
USER pooler
EXPOSE 5432
CMD ["sh", "/usr/local/bin/start-pooler"]

FROM python:3.11-slim-bookworm@sha256:0bee7276f83efd4a1ee05bbbf4281d95ed28e079220a9457f25a93e3f1e3c31b
# What WeasyPrint loads for PDF documents, and fonts for them: the second for Chinese, Japanese and Korean, the third for emoji. For backups: GnuPG, and pg_dump of the release that compose.yaml runs,
# which Debian has only in PostgreSQL's own repository.
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        fonts-dejavu-core fonts-noto-cjk fonts-noto-color-emoji libfontconfig1 libharfbuzz-subset0 libpango-1.0-0 libpangoft2-1.0-0 libseccomp2 gnupg postgresql-common ca-certificates \
    && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y \
    && apt-get install -y --no-install-recommends postgresql-client-18 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --create-home tillgate
COPY --from=packages /opt/venv /opt/venv
WORKDIR /srv/tillgate
COPY manage.py ./
COPY config config
COPY apps apps
COPY templates templates
COPY static static
COPY locale locale
COPY docs/guide docs/guide
COPY docs/reference docs/reference
COPY CHANGELOG.md ./
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=config.settings \
    POSTGRES_CLIENT_BIN=/usr/lib/postgresql/18/bin \
    TILLGATE_ENV=production
# Nothing writes bytecode in a running container: it is made here.
RUN python -m compileall -q config apps
# Without secrets: none is needed for it, and none is kept in the image.
RUN python manage.py collectstatic --noinput --verbosity 0 \
    && mkdir -p var/media var/private var/run keys backups && chown -R tillgate: var keys backups
USER tillgate
EXPOSE 8000
HEALTHCHECK NONE
CMD ["python", "-m", "config.web", "--interface", "asginl", "--no-ws", "--respawn-failed-workers", "--workers-kill-timeout", "25", "--host", "0.0.0.0", "--port", "8000", "--workers", "2", "--backpressure", "5000", "config.asgi:application"]
