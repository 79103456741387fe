"""A broken rule: which field, which rule, and the figures of the rule. THE table has the sentence
of each.

Code asks for `field` and `rule` and never reads the sentence; views say `text` in the shape that
the contract wants.
"""

UNKNOWN = "unknown_field"
UNSTORABLE = "unstorable"
# What is wrong with a body before any of its fields is looked at.
OF_BODIES = frozenset({UNKNOWN, UNSTORABLE})
SENTENCES = {
    # Any value.
    "required": "{field} is required",
    "required_with": "{field} is required with {other}",
    "string": "{field} must be a string",
    "integer": "{field} must be an integer",
    "boolean": "{field} must be true or false",
    "object": "{field} must be an object",
    "list": "{field} must be a list",
    UNKNOWN: "Unknown field: {field}",
    # Text.
    UNSTORABLE: "{field} contains characters that can't be stored",
    "too_long": "{field} is too long (maximum is {maximum} characters)",
    "blank": "{field} can't be blank",
    "choice": "{field} must be one of {choices}",
    "reference": "{field} must be a string of 1 to 255 characters",
    "url": "{field} must be a valid URL",
    "https": "{field} must be an https URL",
    "https_or_loopback": "{field} must be an https URL, or http on localhost, 127.0.0.1 or [::1]",
    "http_url": "{field} must be http or https",
    "https_only": "{field} must be https",
    "clean_url": "{field} is not valid",
    "public_address": "{field} must resolve to a public address",
    "inclusion": "{field} is not included in the list",
    "email": "{field} is not an email address",
    "account_email": "{field} is not valid",
    "payer_email": "{field} must be an email address",
    "postal_email": "{field} is not a valid address",
    "electronic_address": (
        "{field} must be a number after the code of its list, like 0208:0123456789"
    ),
    "country": "{field} must be an ISO 3166-1 alpha-2 code",
    "future": "{field} must be in the future",
    "time": "{field} must be an ISO 8601 time",
    "time_with_zone": "{field} must be an ISO 8601 date-time with a time zone",
    # Numbers, and text that holds one.
    "at_least": "{field} must be at least {minimum}",
    "at_most": "{field} must be at most {maximum}",
    "between": "{field} must be between {minimum} and {maximum}",
    "digits": "{field} must be a string of digits",
    "decimal": "{field} must be a decimal string",
    "decimal_cents": "{field} must be a decimal string with at most 2 decimals",
    "fraction": "{field} must be a decimal fraction below 1 with at most 8 places",
    "positive": "{field} must be greater than zero",
    "whole_unit": "{field} must be a whole number in {currency}",
    "positive_integer": "{field} must be a positive integer string",
    "positive_digits": "Amount must be a positive integer string",
    "one_destination": "Exactly one destination is required",
    "multiple": "{field} must be a multiple of {step} in {currency}",
    "nothing_left": "{field} leaves nothing to the sub-merchant",
    "above_ceiling": "{field} is above the ceiling of {ceiling}",
    "one_refund_amount": "Give one of amount and settlement_amount",
    "ambiguous_amount": "Give one of settlement_amount, amount and amount_atomic",
    "one_amount": "Exactly one of amount and amount_atomic is required",
    "fixed_amount": "{field} is only for links whose amount the customer chooses",
    # Lists and objects.
    "too_many_keys": "{field} has too many keys (maximum is {maximum})",
    "string_values": "{field} values must be strings",
    "too_large": "{field} is too large (maximum is {maximum} bytes)",
    "too_many_items": "{field} has too many items (maximum is {maximum})",
    "huge_number": "{field} contains a number that is too large",
    # Webhook endpoints.
    "list_too_long": "{field} is too long (maximum is {maximum})",
    "event_names": "{field} must be a list of event names",
    "unknown_events": "{field} contains unknown events: {names}",
    "event_name": "Unknown event type",
    # Records of billing.
    "taken": "{field} has already been taken",
    "no_items": "{field} can't be empty",
    "item_price": "{field} price_id is required",
    "one_cycle": "{field} must all have the same interval, interval_count and currency",
    "price_once": "{field} name a price more than once",
    # Taxes.
    "one_of": "{field} and {other} can't be given together",
    "rate_of_category": "{field} must be 0 in the category {category}",
    "rate_above_zero": "{field} must be more than 0 in the category {category}",
    "reason_required": "{field} is required in the category {category}",
    "number_prefix": (
        "{field} must be letters, digits and . / _ -, begin with a letter or digit, and end with no"
        " digit"
    ),
    "prefix_of_other": "{field} is used for the store's other documents",
    "prefix_typed": "{field} begins invoice numbers that were entered by hand",
    "number_of_series": "{field} is a number of the store's own series",
    "reason_refused": "{field} must be empty in the category {category}",
    "nothing_included": "{field} must be false when the rate is 0",
    "tax_rate_unknown": "{field} is not an active tax rate of this store",
    "secret": "{field} may be a private key. It was not saved; treat it as exposed",
    "required_with_country": "{field} needs a country, in country or in the address",
    "vat_country": "{field} must begin with {prefix}, as numbers of that country do",
    "vat_number": "{field} is not a VAT number of {country}",
    "buyer_without_number": "{field} is for businesses: the customer has no VAT number of their"
    " country, or the registry says that it isn't valid",
    "buyer_not_abroad": "{field} is for goods to another EU country, and the customer isn't in one",
    "supply_order": "{field} is before supplied_from",
    # Lists of payouts.
    "payable_asset": "{asset_id} isn't an asset that can be paid out in this mode",
    "grouped_or_not": "{field} {written} can be read in two ways in a file with semicolons or"
    " tabs: write it without a point, or with another number of digits after it",
    "coins_with_point": "{field} must be a decimal number of coins with a point, such as 12.5",
    "coin_places": "{field} has more than {places} decimal places",
    "ambiguous_label": "two saved destinations have this label; use the address or the ID",
    "unknown_destination": "{field} is neither an address nor a saved destination",
    "other_network": "the saved wallet isn't on {network}",
    "no_lines": "the file has no payouts",
    "file_size": "the file is larger than {maximum} MB",
    "not_utf8": "the file isn't UTF-8 text; export it as CSV UTF-8",
    "not_text": "the file isn't text; export it as CSV UTF-8",
    "missing_columns": "the first line must name the columns: {columns} is missing",
    "too_many_lines": "the file has more than {maximum} payouts; split it",
    "unreadable_line": "line {line} can't be read: {problem}",
    # What only people fill in.
    "unknown_rule": "{field} is not a rule; use one of {known}",
    "choose_payout": "choose what to pay out",
    "choose_swap": "choose what to sell and what to buy",
    "choose_day": "choose a day",
    "choose_file": "choose a CSV file",
    "choose_scope": "Choose at least one scope",
    "choose_value": "choose one of the offered values",
    "choose_range": "choose a start and an end",
    "range_order": "the end of the range is before its start",
    "coins": "{field} must be a decimal number of coins with at most {places} places",
    "number": "{field} must be a number such as 12.50",
    "mixed_commas": "separate {field} by commas and spaces, or by semicolons",
    "two_readings": "{field} {written} can be read in two ways: enter {whole}, or {part}",
    "whole_number": "{field} must be a whole number",
    "percent": "{field} must be at most 100 percent",
    "percentage": "{field} must be a percentage below 100 with at most 6 places, such as 1.5",
    "money": "enter the amount as a number such as 1000 or 1000.00",
    "date": "{field} is not a date",
    "no_rate": "there is no current rate for this coin; enter the amount in coins",
    "old_form": "the form is too old; open it again",
    "above_maximum": "{field} is more than the maximum of {maximum}",
    "payable_now": "at most {maximum} can be paid out now",
    "other_payout": "the payout has changed since you reviewed it; check the figures again",
    "other_act": "this has changed since you reviewed it; check it again",
}


class Invalid(Exception):
    """`field` as its sender names it (`line_items[0].quantity`), a rule of the table, and what the
    rule's sentence fills in."""

    def __init__(self, field: str, rule: str, **params: object) -> None:
        self.field = field
        self.rule = rule
        self.params = params
        super().__init__(field, rule)

    @property
    def text(self) -> str:
        return self.text_of(self.field)

    def text_of(self, label: str) -> str:
        """Text of the message with another name for the field."""
        return SENTENCES[self.rule].format(field=label, **self.params)

    def __str__(self) -> str:
        return self.text


class InvalidFields(Invalid):
    """Several fields at once, each with the first rule that it breaks. Who tells one tells the
    first."""

    def __init__(self, *broken: Invalid) -> None:
        self.broken = broken
        super().__init__(broken[0].field, broken[0].rule, **broken[0].params)
