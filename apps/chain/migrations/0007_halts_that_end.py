"""Which halt may end by itself, and since when the receipt of a transaction is missing. Processes of
the previous release leave both empty: they ask a person at once, who ends the halt."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chain", "0006_looks")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="hotwallet",
            name="halted_code",
            field=models.CharField(
                blank=True,
                choices=[
                    ("short", "The hot wallet is short of funds"),
                    ("network_dear", "The network asks more for gas than the ceiling"),
                    ("network_silent", "The network can't say what it costs"),
                    ("wrong_chain", "The asset belongs to another chain"),
                    ("no_contract", "The asset has no contract"),
                    ("destination_refused", "The destination is refused"),
                    ("recipient_refuses", "The recipient refuses the transfer"),
                    ("recipient_costly", "The recipient needs more gas than a transfer is given"),
                    ("not_listed", "The destination is not on the operator's list"),
                    ("exchange_refuses", "The exchange refuses the swap"),
                    ("no_exchange", "The chain has no exchange"),
                    ("strange_call", "The call is not what was asked for"),
                    ("token_refuses", "The token refuses the authorization"),
                    ("not_to_deposit", "The coins would not come to a deposit address"),
                    ("from_hot_wallet", "The coins would leave a hot wallet"),
                    ("not_to_cold", "It is no transfer to cold storage"),
                    ("not_cold_address", "The destination is not the asset's cold address"),
                    ("payouts_wait", "Payouts wait for these coins"),
                    ("holds_less", "The hot wallet holds less by now"),
                    ("no_transfer", "It is no transfer"),
                    ("not_to_hot_wallet", "A sweep goes to the hot wallet"),
                    ("no_deposit_address", "It is no deposit address"),
                    ("would_revert", "The transfer would be reverted"),
                    ("gas_too_dear", "Gas became too dear"),
                    ("reverted", "The chain reverted it"),
                    ("nonce_taken", "Its nonce was used by another transaction"),
                    ("given_up", "Given up by an operator"),
                    ("not_approved", "Nobody approved it"),
                    ("not_reserved", "The books have set nothing aside for it"),
                    ("above_one", "It is above the limit of one transaction"),
                    ("above_day", "It is above the limit of one day"),
                    ("no_key", "The seed has no key for the address"),
                    ("may_be_sent", "It may have been sent before the records were restored"),
                    ("sent_before", "The wallet did the same before the records were restored"),
                    ("nonce_ahead", "The chain is ahead of our records"),
                    ("nonce_unknown", "Its nonce was used by a transaction that we do not know"),
                    ("undone", "The chain undid it, and did otherwise the second time"),
                    (
                        "given_back",
                        "It was reverted and what it should have paid was given back; then the chain undid it. Sent again, it could pay",
                    ),
                ],
                db_default="",
                default="",
                max_length=25,
            ),
        ),
        migrations.AddField(
            model_name="outgoingtransaction",
            name="unknown_since",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
