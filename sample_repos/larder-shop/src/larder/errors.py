"""Failures that a client is told about. The code is stable, the message is for people."""


class ShopError(Exception):
    status = 400
    code = "bad_request"


class NotFound(ShopError):
    status = 404
    code = "not_found"


class SignInRequired(ShopError):
    status = 401
    code = "sign_in_required"


class Forbidden(ShopError):
    status = 403
    code = "forbidden"


class OutOfStock(ShopError):
    status = 409
    code = "out_of_stock"


class CardDeclined(ShopError):
    status = 402
    code = "card_declined"
