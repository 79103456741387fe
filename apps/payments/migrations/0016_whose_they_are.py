"""Late deposits and unmatched transfers of before get their store: few rows, each found by its payment."""

from django.db import migrations

SQL = """
UPDATE payments_latedeposit l SET store_id = p.store_id, mode = p.mode FROM payments_payment p
WHERE p.id = l.payment_id AND l.store_id IS NULL;
UPDATE chain_unmatchedtransfer u SET store_id = p.store_id
FROM payments_paymentaddress a JOIN payments_payment p ON p.id = a.payment_id
WHERE a.address_id = u.address_id AND u.store_id IS NULL;
"""


class Migration(migrations.Migration):
    dependencies = [
        ('payments', '0015_needing_a_person'),
        ('chain', '0018_needing_a_person_indexes'),
    ]

    operations = [migrations.RunSQL(SQL, migrations.RunSQL.noop)]
