"""What the OAuth paths are asked with, in JSON or as a form, and how the networks that call us back speak."""

from apps.core.literal import Schema

_TEXT: Schema = {"type": "string"}
# A query or body of an authorization request; `required` as in a description of parameters.
AUTHORIZATION: dict[str, Schema] = {
    "client_id": {**_TEXT, "required": True},
    "redirect_uri": {"type": "string", "format": "uri", "description": "One of the application's, to the letter", "required": True},
    "response_type": {"type": "string", "enum": ["code"], "required": True},
    "scope": {"type": "string", "description": "Separated by spaces"},
    "code_challenge": {"type": "string", "minLength": 43, "maxLength": 128, "required": True},
    "code_challenge_method": {"type": "string", "enum": ["S256"], "required": True},
    "state": _TEXT,
    "livemode": {"type": "string", "enum": ["true", "false"], "description": "`true` asks for live mode; test mode without it"},
}


def _body(fields: dict[str, Schema]) -> Schema:
    properties = {name: {key: value for key, value in told.items() if key != "required"} for name, told in fields.items()}
    return {"type": "object", "properties": properties, "required": [name for name, told in fields.items() if told.get("required")]}


_CLIENT: dict[str, Schema] = {
    "client_id": _TEXT,
    "client_secret": {"type": "string", "description": "Of a confidential client, unless it comes by HTTP Basic"},
}
DECISION: Schema = _body(
    {
        **AUTHORIZATION,
        "store_id": {"type": "string", "format": "uuid", "description": "Left out when only the profile is asked for"},
        "decision": {"type": "string", "enum": ["allow", "deny"], "required": True},
    }
)
EXCHANGE: Schema = {
    "oneOf": [
        _body(
            {
                "grant_type": {"type": "string", "enum": ["authorization_code"], "required": True},
                "code": {**_TEXT, "required": True},
                "redirect_uri": {"type": "string", "format": "uri", "required": True},
                "code_verifier": {"type": "string", "minLength": 43, "maxLength": 128, "required": True},
                **_CLIENT,
            }
        ),
        _body(
            {
                "grant_type": {"type": "string", "enum": ["refresh_token"], "required": True},
                "refresh_token": {**_TEXT, "required": True},
                **_CLIENT,
            }
        ),
    ]
}
REVOCATION: Schema = _body({"token": {"type": "string", "description": "The bearer token itself when left out"}, **_CLIENT})
