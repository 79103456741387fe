"""Translatable sentences of services that customers' pages show (apps.core.web.forms.sentences).

The services themselves speak English: their sentences are the API's too. A sentence that isn't here
is shown in English.
"""

from django.utils.translation import gettext_noop as _

# Rules of apps/core/messages/invalid.py that a customer's form can break.
RULES = (
    _("{field} is required"),
    _("{field} contains characters that can't be stored"),
    _("{field} is too long (maximum is {maximum} characters)"),
    _("{field} can't be blank"),
    _("{field} must be a valid URL"),
    _("{field} must be an email address"),
    _("{field} is not an email address"),
    _("{field} must be at least {minimum}"),
    _("{field} must be at most {maximum}"),
    _("{field} must be greater than zero"),
    _("{field} must be a whole number in {currency}"),
    _("{field} must be a number such as 12.50"),
    _("{field} {written} can be read in two ways: enter {whole}, or {part}"),
    _("the form is too old; open it again"),
)
# Refusals.
REFUSALS = (
    _("A character of this address is wrong. Copy it again"),
    _("A verification of this account is already pending"),
    _("Addresses of this kind have no rules yet: coins sent there could be lost"),
    _("Addresses that hide amounts (MWEB) can’t be paid. Use an address that begins with ltc1"),
    _("Card payments are not available"),
    _("Card payments are not available for this amount"),
    _("Choose a file"),
    _("Country is required"),
    _("Files can't be checked right now. Try again in a moment"),
    _("Invoice can't be paid"),
    _("Name the holder of the account"),
    _("Network is not supported"),
    _("No current exchange rate for any accepted asset"),
    _("No quote in time"),
    _("No refund of this payment waits for an address"),
    _("Nothing is outstanding on this payment; give an amount"),
    _("Payment can no longer be paid"),
    _("Payment has already been funded by card"),
    _("Payment provider error"),
    _("That is not an account number"),
    _("That is not an address of this network"),
    _("This code isn't the one from the latest email, or it has expired"),
    _("The PDF has more than 20 pages. Upload only those that matter"),
    _("The contact of this business has had many of these emails. Try again tomorrow."),
    _("The email was sent a moment ago. Wait a minute before you send it again."),
    _(
        "The file is damaged, protected by a password or too complex. Print it to a new PDF and"
        " upload that"
    ),
    _("The file is larger than 3 MB, or its picture than 4096 by 4096 pixels"),
    _("The file must be a PDF, JPEG or PNG"),
    _("The payment has no deposit address for this asset"),
    _("The payment is already finalized"),
    _("The store accepts no asset"),
    _("This payment has no receipt"),
    _("Too many receipts were sent; try again tomorrow"),
    _("There are 5 documents already. Remove one first"),
    _("This address belongs to another network"),
    _("This address belongs to the payment service. Enter the address of your own wallet"),
    _("This address can't be checked right now. Try again in a few minutes"),
    _("This address is a smart contract. Enter the address of your own wallet"),
    _(
        "This has the form of a private key, or of a transaction’s hash. It was not saved. If it"
        " is a private key, treat it as exposed and move the coins to a new wallet"
    ),
    _(
        "This is a private key or a recovery phrase: whoever has it can spend the coins of its"
        " wallet. It was not saved. Treat it as exposed and move the coins to a new wallet"
    ),
    _("This link can't be used anymore"),
    _("This shows all addresses of a wallet and is none itself. Enter one of its addresses"),
    _("This signature isn't one of the address that paid"),
    _("Too many addresses were entered. Contact the store"),
    _("This onboarding link can't be used anymore; ask for a new one"),
    _("This onboarding link has expired; ask for a new one"),
    _("This onboarding link is not for this step"),
    _("This store can't take new payments at the moment"),
    _("This wallet is already saved"),
    _("Unknown payment method"),
    _("What is outstanding is too small to underpay"),
    _("Your store has uploaded many files in a short time. Try again in a minute"),
    _("region is invalid"),
)
