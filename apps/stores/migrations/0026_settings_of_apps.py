"""What upper apps decide about a store is in rows of theirs, which were copied before."""

from django.db import migrations

# Whoever goes back has the columns again, with what the rows say.
GO_BACK = """
UPDATE stores_store s SET cooling_hours = r.cooling_hours, cooling_hours_next = r.cooling_hours_next, cooling_hours_next_from = r.cooling_hours_next_from
FROM access_coolingsettings r WHERE r.store_id = s.id;
UPDATE stores_store s SET x402_dispatch = r.x402_dispatch, authorization_provider = r.authorization_provider, authorization_url = r.authorization_url, authorization_policy = r.authorization_policy
FROM agents_agentsettings r WHERE r.store_id = s.id;
UPDATE stores_store s SET invoice_due_days = r.invoice_due_days
FROM billing_invoicesettings r WHERE r.store_id = s.id;
UPDATE stores_store s SET payout_network_fee = r.payout_network_fee, payout_review_threshold_cents = r.payout_review_threshold_cents, review_new_destinations = r.review_new_destinations, platform_may_pay_out = r.platform_may_pay_out
FROM payouts_payoutsettings r WHERE r.store_id = s.id;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0025_clock_a_month_behind'),
        ('access', '0008_copied_cooling_settings'),
        ('agents', '0004_copied_agent_settings'),
        ('billing', '0011_copied_invoice_settings'),
        ('payouts', '0015_copied_payout_settings'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(migrations.RunSQL.noop, GO_BACK),
        migrations.RemoveConstraint(
            model_name='store',
            name='store_cooling_is_short',
        ),
        migrations.RemoveField(
            model_name='store',
            name='authorization_policy',
        ),
        migrations.RemoveField(
            model_name='store',
            name='authorization_provider',
        ),
        migrations.RemoveField(
            model_name='store',
            name='authorization_url',
        ),
        migrations.RemoveField(
            model_name='store',
            name='cooling_hours',
        ),
        migrations.RemoveField(
            model_name='store',
            name='cooling_hours_next',
        ),
        migrations.RemoveField(
            model_name='store',
            name='cooling_hours_next_from',
        ),
        migrations.RemoveField(
            model_name='store',
            name='invoice_due_days',
        ),
        migrations.RemoveField(
            model_name='store',
            name='payout_network_fee',
        ),
        migrations.RemoveField(
            model_name='store',
            name='payout_review_threshold_cents',
        ),
        migrations.RemoveField(
            model_name='store',
            name='platform_may_pay_out',
        ),
        migrations.RemoveField(
            model_name='store',
            name='review_new_destinations',
        ),
        migrations.RemoveField(
            model_name='store',
            name='x402_dispatch',
        ),
    ]
