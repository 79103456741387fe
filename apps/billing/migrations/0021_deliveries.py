"""E-invoices that go to buyers through a network, the XML that a customer wants with emails, and
when a registry is asked about a VAT number."""

import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('billing', '0020_refund_credited_once'),
        ('stores', '0023_read_notifications'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='customer',
            name='e_invoice_format',
            field=models.CharField(max_length=20, null=True),
        ),
        migrations.AddField(
            model_name='customer',
            name='vat_check_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.CreateModel(
            name='EInvoiceDelivery',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('network', models.CharField(choices=[('peppol', 'Peppol')], max_length=10)),
                ('status', models.CharField(choices=[('queued', 'Queued'), ('sending', 'Sending'), ('delivered', 'Delivered'), ('refused', 'Refused')], default='queued', max_length=9)),
                ('sender', models.CharField(max_length=100)),
                ('receiver', models.CharField(max_length=100)),
                ('country', models.CharField(max_length=2)),
                ('content', models.TextField()),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('error', models.CharField(blank=True, default='', max_length=500)),
                ('next_attempt_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('updated_at', models.DateTimeField()),
                ('credit_note', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.creditnote')),
                ('invoice', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='deliveries', to='billing.invoice')),
                ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
            options={
                'ordering': ['created_at', 'id'],
                'indexes': [models.Index(fields=['invoice', 'created_at'], name='e_invoice_delivery_of'), models.Index(condition=models.Q(('next_attempt_at__isnull', False)), fields=['next_attempt_at'], name='e_invoice_delivery_due')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('credit_note__isnull', True), models.Q(('status', 'refused'), _negated=True)), fields=('invoice', 'network'), name='e_invoice_delivered_once'), models.UniqueConstraint(condition=models.Q(('credit_note__isnull', False), models.Q(('status', 'refused'), _negated=True)), fields=('credit_note', 'network'), name='credit_note_delivered_once'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('status__in', ['queued', 'sending'])), models.Q(('ended_at__isnull', False), ('next_attempt_at__isnull', True), ('status__in', ['delivered', 'refused'])), _connector='OR'), name='e_invoice_delivery_ends')],
            },
        ),
    ]
