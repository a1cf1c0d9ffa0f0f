# The program with its servers, for a repository that is mounted:
#   docker build -t causalist . && docker run --rm -v "$PWD":/repo causalist ask "where does auth happen"
FROM python:3.13-slim-bookworm AS build
COPY . /src
RUN python -m venv /opt/causalist \
    && /opt/causalist/bin/pip install --no-cache-dir '/src[mcp,lsp,web,watch]' \
    && /opt/causalist/bin/pip uninstall --yes pip

FROM python:3.13-slim-bookworm
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 causalist \
    && git config --system --add safe.directory /repo
COPY --from=build /opt/causalist /opt/causalist
ENV PATH=/opt/causalist/bin:$PATH
USER 1000
WORKDIR /repo
ENTRYPOINT ["causalist"]
CMD ["--help"]
