"""Django's admin with our own site, which is imported once the models are there."""

from django.contrib.admin.apps import AdminConfig


class StaffConfig(AdminConfig):
    default_site = "config.staff_site.StaffSite"
