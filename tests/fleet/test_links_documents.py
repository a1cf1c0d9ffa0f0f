"""Settings of gateways, and documents of AsyncAPI; expected values by hand.

The texts of gateways have the forms of the documentation of Kubernetes (Ingress, HTTPRoute), Envoy, YARP, Spring Cloud
Gateway, Zuul, nginx and Vite.
"""

from pathlib import Path

import pytest

pytest.importorskip("fsspec")

from causalist.fleet.links.shard_symbols import TextValue, read_settings
from causalist.parse.data_names.schemas import is_asyncapi, read_asyncapi
from tests.fleet.test_links import find_links, shorten

_INGRESS = """apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: shop
spec:
  rules:
  - host: shop.example.org
    http:
      paths:
      - path: /orders(/|$)(.*)
        pathType: ImplementationSpecific
        backend:
          service:
            name: orders
            port:
              number: 80
      - path: /users/*
        pathType: Prefix
        backend: {service: {name: accounts, port: {number: 8080}}}
      - path: "/"
        pathType: Prefix
        backend:
          service:
            name: front-end
            port:
              name: http
"""
_OLD_INGRESS = """kind: Ingress
spec:
  rules:
  - http:
      paths:
      - path: /orders
        backend:
          serviceName: orders
          servicePort: 80
"""
_HTTP_ROUTE = """kind: HTTPRoute
spec:
  rules:
  - matches:
    - path:
        type: PathPrefix
        value: /orders
    backendRefs:
    - name: orders
      port: 8080
"""
_ENVOY = """static_resources:
  listeners:
  - filter_chains:
    - filters:
      - typed_config:
          route_config:
            virtual_hosts:
            - domains: ["*"]
              routes:
              - match: { prefix: "/orders/" }
                route: { cluster: orders, prefix_rewrite: "/" }
              - match:
                  prefix: /users
                route:
                  timeout: 3s
                  cluster: accounts_service
"""
_YARP = """{
  "ReverseProxy": {
    "Routes": {
      "orders": {
        "ClusterId": "orders-cluster",
        "Match": { "Path": "/orders/{**rest}" }
      },
      "users": {
        "Match": {
          "Path": "/users/{id}"
        },
        "ClusterId": "accounts"
      }
    },
    "Clusters": {
      "orders-cluster": { "Destinations": { "one": { "Address": "http://orders:8080/" } } },
      "accounts": { "Destinations": { "one": { "Address": "http://accounts:8080/" } } }
    }
  }
}
"""
_SPRING = """spring:
  cloud:
    gateway:
      routes:
        - id: orders
          uri: lb://orders-service
          predicates:
            - Path=/api/orders/**
          filters:
            - StripPrefix=2
"""
_ZUUL = """zuul:
  routes:
    accounts:
      path: /accounts/**
      serviceId: account-service
      stripPrefix: false
"""
_NGINX = """server {
  location = /health { return 200; }
  location /api/orders/ {
    proxy_set_header Host $host;
    proxy_pass http://orders:8080/;
  }
  location ~ ^/static { root /srv; }
}
"""
_VITE = """export default {
  server: {proxy: {'/api/orders': {target: 'http://orders:8080', changeOrigin: true}}},
}
"""
_PROBE = """kind: Deployment
spec:
  template:
    spec:
      containers:
      - name: shop
        readinessProbe:
          httpGet:
            path: "/healthz"
            port: 8080
        env:
        - name: ORDERS_ADDR
          value: "orders:8080"
"""
_PATCH = """patches:
- patch: |
    - op: add
      path: /spec/template/spec/containers/0/env/-
      value:
        name: BASE_URL
        value: /shop
"""
_ARTIFACT = """    steps:
      - uses: actions/upload-artifact@v4
        with:
          path: /tmp/digests/*
          name: digests
"""


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("ingress.yaml", _INGRESS, [("/orders", "orders", 9), ("/users", "accounts", 16), ("/", "front-end", 19)]),
        ("ingress.yaml", _OLD_INGRESS, [("/orders", "orders", 5)]),
        ("route.yaml", _HTTP_ROUTE, [("/orders", "orders", 6)]),
        ("envoy.yaml", _ENVOY, [("/orders", "orders", 9), ("/users", "accounts_service", 12)]),
        ("appsettings.json", _YARP, [("/orders/", "orders-cluster", 4), ("/users/", "accounts", 9)]),
        ("application.yml", _SPRING, [("/api/orders", "orders-service", 5)]),
        ("application.yml", _ZUUL, [("/accounts", "account-service", 3)]),
        ("nginx.conf", _NGINX, [("/api/orders/", "orders", 2)]),
        ("vite.config.ts", _VITE, [("/api/orders", "orders", 1)]),
        ("deployment.yaml", _PROBE, []),
        ("kustomization.yaml", _PATCH, []),
        ("ci.yml", _ARTIFACT, []),
    ],
)
def test_paths_that_are_passed_on(path: str, text: str, expected: list[tuple[str, str, int]]) -> None:
    settings: dict[str, TextValue] = {}
    rows = read_settings(path, lambda _: text, settings)
    assert [(row.name, row.host, row.row) for row in rows if row.is_gateway] == expected


def test_addresses_of_settings_are_no_gateways() -> None:
    settings: dict[str, TextValue] = {}
    rows = list(read_settings("deployment.yaml", lambda _: _PROBE, settings))
    assert [(row.name, row.host, row.is_gateway) for row in rows] == [("ORDERS_ADDR", "orders", False)]
    assert settings["ORDERS_ADDR"].text == "http://orders:8080"


_ASYNC_2 = """asyncapi: '2.6.0'
info: {title: Accounts, version: '1'}
channels:
  user/signedup:
    description: those who are new
    subscribe:
      operationId: onSignedUp
      message: {$ref: '#/components/messages/UserSignedUp'}
  user/removal:
    publish:
      message:
        payload: {type: object}
components:
  messages:
    UserSignedUp: {}
"""
_ASYNC_3 = """asyncapi: 3.0.0
channels:
  signedUp:
    address: user.signedup
    messages: {}
  removal: {}
operations:
  sendSignedUp:
    action: send
    channel:
      $ref: '#/channels/signedUp'
  onRemoval:
    channel: {$ref: '#/channels/removal'}
    action: "receive"
  unknown:
    action: receive
"""
_ASYNC_JSON = (
    '{"asyncapi": "3.0.0", "channels": {"a~b/c": {"address": "a.b.c"}},'
    ' "operations": {"one": {"action": "receive", "channel": {"$ref": "#/channels/a~0b~1c"}}}}'
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (_ASYNC_2, [(5, True, "user/signedup"), (9, False, "user/removal")]),
        (_ASYNC_3, [(8, True, "user.signedup"), (13, False, "removal")]),
        (_ASYNC_JSON, [(0, False, "a.b.c")]),
        ("asyncapi: 3.0.0\nchannels: [", []),
        ("asyncapi: 3.0.0\n{", []),
    ],
)
def test_operations_of_asyncapi(text: str, expected: list[tuple[int, bool, str]]) -> None:
    assert is_asyncapi(text) and not is_asyncapi(text.replace("asyncapi", "openapi", 1))
    assert [(text.count("\n", 0, each.at), each.is_sent, each.address) for each in read_asyncapi(text)] == expected


@pytest.mark.slow
def test_documents_of_asyncapi_lead_to_code_and_to_other_documents(tmp_path: Path) -> None:
    rows = find_links(tmp_path, {
        "accounts": {"asyncapi.yaml": _ASYNC_3},
        "mail": {"mail.py": "consumer = KafkaConsumer('user.signedup')\n"},
        "admin": {"admin.py": "def remove(producer):\n    producer.send('removal', b'1')\n"},
        "audit": {"api/asyncapi.json": _ASYNC_JSON.replace("a.b.c", "user.signedup")},
        "fixture": {"tests/asyncapi.yaml": _ASYNC_3},
    })  # fmt: skip
    assert shorten(rows) == {
        ("accounts:asyncapi.yaml", "async-channel", "mail:mail.py::consumer", 9),
        ("accounts:asyncapi.yaml", "async-channel", "audit:api/asyncapi.json", 9),
        ("admin:admin.py::remove", "async-channel", "accounts:asyncapi.yaml", 2),
    }


_KIOTA = """public class ItemsRequestBuilder extends BaseRequestBuilder {
  public ItemsRequestBuilder(final RequestAdapter requestAdapter) {
    super(requestAdapter, "{+baseurl}/carts/{customerId}/items{?page*}", pathParameters);
  }
  public RequestInformation toGetRequestInformation() {
    return new RequestInformation(HttpMethod.GET, urlTemplate, pathParameters);
  }
  public RequestInformation toPostRequestInformation() {
    return new RequestInformation(HttpMethod.POST, urlTemplate, pathParameters);
  }
}
"""
_TYPESCRIPT = """export class CartsApi {
  public async dropItem(id: string) {
    const localVarPath = this.basePath + '/carts/{id}/items'.replace('{id}', id);
    return request({method: 'DELETE', uri: localVarPath});
  }
}
"""
_GO = """package carts

func (a *CartsApiService) MergeExecute(r Request) error {
	var (
		localVarHTTPMethod = http.MethodPut
	)
	localVarPath := localBasePath + "/carts/{id}/merge"
	return a.call(localVarPath, localVarHTTPMethod)
}
"""
_CARTS = "from flask import Flask\n\napp = Flask(__name__)\n\n\n" + "".join(
    f"@app.route('{path}', methods=['{method}'])\ndef {name}(n):\n    return n\n\n\n"
    for path, method, name in (
        ("/carts/<n>/items", "GET", "items"),
        ("/carts/<n>/items", "POST", "add"),
        ("/carts/<n>/items", "DELETE", "drop"),
        ("/carts/<n>/items", "PATCH", "change"),
        ("/carts/<n>/merge", "PUT", "merge"),
    )
)


@pytest.mark.slow
def test_clients_that_are_generated_lead_to_the_service_of_their_folder(tmp_path: Path) -> None:
    rows = find_links(tmp_path, {
        "carts": {"app.py": _CARTS},
        "old-baskets": {"app.py": _CARTS},
        "ui": {
            "client/carts/ItemsRequestBuilder.java": _KIOTA,
            "src/carts/cartsApi.ts": _TYPESCRIPT,
            "carts/api.go": _GO,
        },
    })  # fmt: skip
    assert {(row["source"].partition("::")[2], row["target_repository"], row["target"]) for row in rows} == {
        ("ItemsRequestBuilder.toGetRequestInformation", "carts", "app.py::items"),
        ("ItemsRequestBuilder.toPostRequestInformation", "carts", "app.py::add"),
        ("CartsApi.dropItem", "carts", "app.py::drop"),
        ("CartsApiService.MergeExecute", "carts", "app.py::merge"),
    }
