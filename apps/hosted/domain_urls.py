"""THE table of what is served at a store's own checkout domain: its checkout, and the logo on
it."""

from django.urls import re_path

from apps.hosted import media
from apps.hosted.urls import CHECKOUT, LOGO

urlpatterns = [re_path(rf"^media/logos/{LOGO}\.png$", media.logo, name="logo"), *CHECKOUT]
handler404 = "config.errors.not_found"
handler500 = "config.errors.server_error"
handler400 = "config.errors.bad_request"
