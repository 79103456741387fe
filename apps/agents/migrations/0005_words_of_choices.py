"""What the choices are called by people; nothing in the database changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0004_copied_agent_settings'),
    ]

    operations = [
        migrations.AlterField(
            model_name='agentsettings',
            name='authorization_provider',
            field=models.CharField(choices=[('none', 'None'), ('policy', 'Policy'), ('http', 'HTTP')], default='none', max_length=8),
        ),
    ]
