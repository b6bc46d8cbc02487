# SPDX-License-Identifier: BSD-2-Clause
"""tables.py TOP FOLDER: the tables of FOLDER in DuckDB, in pandas and in
ClickHouse, value by value. Prints what differs; status 1 if anything does."""

import collections
import json
import os
import re
import shutil
import subprocess
import sys

top, folder = sys.argv[1:]
schema = open(f"{folder}/schema.sql", encoding="utf-8").read()
names = re.findall(r"CREATE TABLE (\w+)", schema)
assert len(names) == 10, names
# A row of each as one text of JSON.
queries = {name: f"SELECT * FROM {name}" for name in names}
queries["named"] = ("SELECT thread, call, name, line, self_ns "
                    "FROM named_calls")


def lines(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          encoding="utf-8", cwd=folder, **more)
    assert done.returncode == 0, done.stdout
    return done.stdout.splitlines()


def duckdb(query):
    return lines(["node", f"{top}/tests/cli/lib/duckdb.js",
                  f"{top}/build/npm/node_modules", schema,
                  f"SELECT to_json(t) FROM ({query}) t"])[1:]


# One process for each query: chdb ends with its first error.
CHDB = """
const { Session } = require(process.argv[1]);
const session = new Session();
session.query(process.argv[2], 'JSONEachRow');
process.stdout.write(session.query(process.argv[3], 'JSONEachRow'));
session.cleanup();
"""
PLAIN = ("SETTINGS output_format_json_quote_64bit_integers = 0, "
         "output_format_json_escape_forward_slashes = 0")


def clickhouse_reader():
    views = open(f"{folder}/clickhouse.sql", encoding="utf-8").read()
    module = os.path.join(os.environ.get("CHDB", ""), "node_modules/chdb")
    if shutil.which("clickhouse"):
        return lambda query: lines(
            ["clickhouse", "local", "-q",
             f"{views} {query} {PLAIN} FORMAT JSONEachRow"])
    if os.environ.get("CHDB") and os.path.isdir(module):
        module = os.path.abspath(module)
        return lambda query: lines(
            ["node", "-e", CHDB, module, views, f"{query} {PLAIN}"])
    return None


def pandas_reader():
    page = open(f"{top}/docs/tables.md", encoding="utf-8").read()
    python = re.search(r"```python\n(.*?)```", page, re.S)[1]
    if not os.path.exists(f"{folder}/calls.csv"):
        python = python.replace('.csv"', '.csv.gz"')
    given = subprocess.run(
        ["/usr/bin/python3", "-c", python + f"""
import json
for name in {names}:
    rows = table(name).to_dict("records")
    for row in rows:
        row = {{key: None if value is pandas.NA else value for key, value in row.items()}}
        print(json.dumps([name, row]))
"""], cwd=folder, stdout=subprocess.PIPE, text=True)
    assert given.returncode == 0
    # What the page prints itself is none of them.
    rows = collections.defaultdict(list)
    for line in given.stdout.splitlines():
        if line.startswith('["'):
            name, row = json.loads(line)
            rows[name].append(row)
    return rows


def shown(row):
    return json.dumps(row, sort_keys=True)


def same(who, name, theirs, wanted):
    if collections.Counter(map(shown, theirs)) == wanted:
        return True
    others = collections.Counter(map(shown, theirs))
    print(f"{folder}: {name}: {who} has {len(theirs)} rows of {wanted.total()}")
    for word, some in (("alone", others - wanted), ("lacks", wanted - others)):
        for row in list(some)[:3]:
            print(f"\t{who} {word}: {row}")
    return False


frames = pandas_reader()
clickhouse = clickhouse_reader()
good, values = True, 0
for name, query in queries.items():
    rows = [json.loads(line) for line in duckdb(query)]
    values += sum(map(len, rows))
    wanted = collections.Counter(map(shown, rows))
    if name in names:
        good &= same("pandas", name, frames[name], wanted)
    if clickhouse:
        rows = [json.loads(line) for line in clickhouse(query)]
        good &= same("ClickHouse", name, rows, wanted)
print(f"real: tables: {folder}: {values} values as DuckDB has them,"
      f" {'' if clickhouse else 'not asked: '}ClickHouse, pandas")
sys.exit(not good)
