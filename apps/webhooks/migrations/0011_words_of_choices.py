"""What the choices are called by people; nothing in the database changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('webhooks', '0010_due_only'),
    ]

    operations = [
        migrations.AlterField(
            model_name='endpoint',
            name='platform',
            field=models.CharField(blank=True, choices=[('woocommerce', 'WooCommerce'), ('prestashop', 'PrestaShop'), ('shopify', 'Shopify'), ('magento', 'Magento'), ('custom', 'Custom'), ('n8n', 'n8n')], max_length=11, null=True),
        ),
    ]
