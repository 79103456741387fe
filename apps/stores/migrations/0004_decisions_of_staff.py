from django.db import migrations, models


class Migration(migrations.Migration):
    """What staff decide about a store: payouts, cards, agents, invoices."""

    dependencies = [
        ('stores', '0003_logo_name'),
    ]

    operations = [
        migrations.AddField(
            model_name='store',
            name='authorization_policy',
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name='store',
            name='authorization_provider',
            field=models.CharField(choices=[('none', 'None'), ('policy', 'Policy'), ('http', 'Http')], default='none', max_length=8),
        ),
        migrations.AddField(
            model_name='store',
            name='authorization_url',
            field=models.URLField(blank=True, max_length=2048),
        ),
        migrations.AddField(
            model_name='store',
            name='card_funding_live',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='store',
            name='card_funding_test',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='store',
            name='invoice_due_days',
            field=models.PositiveSmallIntegerField(default=7),
        ),
        migrations.AddField(
            model_name='store',
            name='payout_network_fee',
            field=models.CharField(choices=[('service', 'Service'), ('merchant', 'Merchant')], default='service', max_length=8),
        ),
        migrations.AddField(
            model_name='store',
            name='payout_review_threshold_cents',
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='store',
            name='platform_may_pay_out',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='store',
            name='review_new_destinations',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='store',
            name='x402_dispatch',
            field=models.BooleanField(default=False),
        ),
    ]
