"""What the choices are called by people; nothing in the database changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('platforms', '0002_destination_confirmation'),
    ]

    operations = [
        migrations.AlterField(
            model_name='onboardinglink',
            name='purpose',
            field=models.CharField(choices=[('onboarding', 'Onboarding'), ('kyb', 'KYB'), ('payout_destination', 'Payout destination')], max_length=18),
        ),
    ]
