#!/usr/bin/env bash
# bench/redis.sh [BUILD]: what our commands cost a server, beside its own, in one run.
# ITEMS=1e6 ROUNDS=3 ROWS='pipeline 128' (only such rows); SERVER=valkey-server for the other server.
cd "$(dirname "$0")/.." || exit 1
BUILD=${1:-build/release} PYTHONPATH=tests/redis PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 bench/redis_cpu.py
