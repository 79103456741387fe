"""The credential that a payment was created with; null of those from before."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('payments', '0017_shared_payers'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='payment',
            name='created_with',
            field=models.CharField(
                choices=[
                    ('secret_key', 'Secret key'),
                    ('publishable_key', 'Publishable key'),
                    ('signed_amount', 'Publishable key, with a signed amount'),
                    ('app', 'OAuth app'),
                    ('agent', 'Agent'),
                    ('dashboard', 'Dashboard'),
                    ('hosted_page', 'Payment link or invoice'),
                ],
                max_length=15,
                null=True,
            ),
        ),
    ]
