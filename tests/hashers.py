"""Argon2 is slow on purpose; what the tests promise doesn't hang on how slow."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class QuickArgon2(Argon2PasswordHasher):
    time_cost = 1
    memory_cost = 64
    parallelism = 1
