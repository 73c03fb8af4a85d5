#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by zoo.sh, and by the shell that runs each copy of a program. Each program has packages, a loop (loop_NAME),
# optionally a preparation (make_NAME, run once in the program's folder), and optionally a server for each copy
# (serve_NAME). Loop and server run in the copy's folder. A copy ends if the program in its loop fails.
# shellcheck disable=SC2034,SC2154,SC2317 # variables are shared, functions are called by their names

zoo=(cc openssl xz sysbench sqlite redis ffmpeg h2 lucene python stress-ng nginx)

# packages_of PROGRAM: prints its packages, in the format of install_missing.
packages_of() {
    case $1 in
    cc) echo cmake=cmake make=make gcc=cc libc6-dev=/usr/include/stdio.h ;;
    openssl) echo openssl=openssl ;;
    xz) echo xz-utils=xz ;;
    sysbench) echo sysbench=sysbench ;;
    sqlite) echo sqlite3=sqlite3 ;;
    redis) echo redis-server=redis-server redis-tools=redis-benchmark ;;
    ffmpeg) echo ffmpeg=ffmpeg ;;
    h2) echo default-jre-headless=java maven=mvn ;;
    lucene) echo default-jdk-headless=javac maven=mvn ;;
    python) echo python3=python3 ;;
    stress-ng) echo stress-ng=stress-ng ;;
    nginx) echo nginx=nginx apache2-utils=ab ;;
    esac
}

# describe_program PROGRAM: prints what one turn of its loop does.
describe_program() {
    case $1 in
    cc) echo "make -j builds a copy of this source tree" ;;
    openssl) echo "openssl speed -multi: a hash, a cipher, signatures" ;;
    xz) echo "xz -T0 compresses 48 MB" ;;
    sysbench) echo "sysbench cpu with a thread for each CPU, then memory with one" ;;
    sqlite) echo "sqlite3 fills, indexes, queries and empties a table in a file" ;;
    redis) echo "redis-benchmark against a redis-server of its own" ;;
    ffmpeg) echo "ffmpeg encodes 5 s of video with x264" ;;
    h2) echo "a JVM runs a script in the database H2" ;;
    lucene) echo "a JVM indexes this source tree with Lucene and searches it in several threads" ;;
    python) echo "a pool of Python processes computes, then one process sums up" ;;
    stress-ng) echo "four mixes of stressors, 2 s each" ;;
    nginx) echo "ab asks an nginx of its own for a page of 16 kB" ;;
    esac
}

# fetch_jar GROUP:NAME:VERSION SHA256: fetches a file with Maven, from the repositories in its settings; without
# --install, uses only files that were fetched before.
fetch_jar() {
    local name=${1#*:} offline=(--offline)
    local file=${name%:*}-${1##*:}.jar
    [ -z "${install:-}" ] || offline=()
    mvn -q -B "${offline[@]}" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
        -Dartifact="$1" -DoutputDirectory="$PWD" || return
    echo "$2  $file" | sha256sum --check --quiet || return
}

# Calls cmake for each copy, because the files that it writes contain the path of the folder.
make_cc() {
    local copy
    copy_source source
    for ((copy = 0; copy < copies; copy++)); do
        cmake -G "Unix Makefiles" -S source -B "$copy/built" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
            -DCMAKE_C_COMPILER_LAUNCHER= || return
    done
}

make_xz() {
    find /usr/bin /usr/lib -type f -size +100k -print0 2>/dev/null | sort -z |
        xargs -0 cat 2>/dev/null | head -c 48000000 >data || true
    [ -s data ]
}

make_sqlite() {
    cat >script.sql <<'END'
drop table if exists entry;
create table entry(id integer primary key, kind integer, word text);
with recursive number(n) as (values(1) union all select n + 1 from number where n < 200000)
    insert into entry select n, abs(random()) % 1000, hex(randomblob(16)) from number;
create index by_kind on entry(kind, word);
select kind, count(*), min(word) from entry group by kind order by 2;
select count(*) from entry a join entry b on a.kind = b.kind and a.id < b.id and a.id < 2000;
update entry set word = lower(word) where kind < 300;
delete from entry where kind >= 500;
vacuum;
END
}

make_h2() {
    cat >script.sql <<'END'
create table entry(id int primary key, kind int, word varchar);
insert into entry select x, mod(x * 7919, 1000), hash('SHA-256', x) from system_range(1, 150000);
create index by_kind on entry(kind, word);
select kind, count(*), min(word) from entry group by kind order by 2;
select count(*) from entry a join entry b on a.kind = b.kind and a.id < b.id and a.id < 4000;
update entry set word = lower(word) where kind < 300;
delete from entry where kind >= 500;
END
    fetch_jar com.h2database:h2:2.2.224 \
        b9d8f19358ada82a4f6eb5b174c6cfe320a375b5a9cb5a4fe456d623e6e55497
}

make_lucene() {
    local part sum
    copy_source source
    cat >Find.java <<'END'
import java.nio.file.*;
import java.util.*;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.store.FSDirectory;

class Find {
    static void index(FSDirectory folder, List<Path> files) throws Exception {
        var config = new IndexWriterConfig(new StandardAnalyzer());
        config.setOpenMode(IndexWriterConfig.OpenMode.CREATE);
        try (var writer = new IndexWriter(folder, config)) {
            for (Path file : files) {
                var document = new Document();
                document.add(new StringField("path", file.toString(), Field.Store.YES));
                document.add(new TextField("text", Files.newBufferedReader(file)));
                writer.addDocument(document);
            }
            writer.forceMerge(1);
        }
    }

    static void search(FSDirectory folder, String words) {
        try (var reader = DirectoryReader.open(folder)) {
            var searcher = new IndexSearcher(reader);
            var query = new QueryParser("text", new StandardAnalyzer()).parse(words);
            for (int i = 0; i < 2000; i++)
                searcher.search(query, 10);
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        var queries = List.of("showstopper", "signal AND process", "\"control group\"~3", "stop*");
        List<Path> files;
        try (var all = Files.walk(Path.of(arguments[0]))) {
            files = all.filter(f -> f.toString().matches(".*\\.([chs1-9]|sh|md)")).toList();
        }
        try (var folder = FSDirectory.open(Path.of("index"))) {
            while (true) {
                index(folder, files);
                queries.parallelStream().forEach(words -> search(folder, words));
            }
        }
    }
}
END
    while read -r part sum; do
        fetch_jar "org.apache.lucene:lucene-$part:9.11.1" "$sum" || return
    done <<'END'
core cb7a9b121bce4ce054ab690ab43ac13ee11ae516d6cef67650130066beee7c9b
analysis-common 8dfda34e75bc53906a611bae1b5870b38fd5aa3779a390565da40aa71e98d5d9
queryparser 63e3f7d0cd7a08975d0cba31d2898de7fa00dc9f3677e37820f4413824538898
END
    javac -cp '*' -d . Find.java
}

make_python() {
    cat >pool.py <<'END'
import multiprocessing


def compute(size):
    return sum(number * number % 7 for number in range(size))


if __name__ == "__main__":
    with multiprocessing.Pool() as pool:
        while True:
            parts = pool.map(compute, range(20000, 420000, 20000), 1)
            compute(sum(parts) % 1000 + 2000000)
END
}

make_nginx() {
    mkdir pages
    head -c 12000 /dev/urandom | base64 >pages/page
}

serve_redis() {
    redis-server --port 0 --unixsocket redis.sock --save '' --appendonly no --dir . \
        --logfile redis.log &
    until [ -S redis.sock ]; do
        kill -0 $!
        sleep 0.05
    done
}

# Each copy has its own loopback address, so that all can use the same port.
serve_nginx() {
    address=127.$((1 + $$ / 65536 % 254)).$(($$ / 256 % 256)).$(($$ % 256))
    cat >nginx.conf <<END
daemon off;
worker_processes auto;
user $(id -un) $(id -gn);
pid nginx.pid;
error_log stderr error;
events {
}
http {
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    server {
        listen $address:18080;
        root $PWD/../pages;
    }
}
END
    nginx -p "$PWD" -c nginx.conf -e stderr &
    until (: <>"/dev/tcp/$address/18080") 2>/dev/null; do
        kill -0 $!
        sleep 0.05
    done
}

loop_cc() {
    make -C built clean
    make -C built -j "$(nproc)"
}

loop_openssl() {
    openssl speed -multi "$(nproc)" -seconds 1 -bytes 16384 sha256 aes-256-cbc
    openssl speed -multi "$(nproc)" -seconds 1 rsa2048
}

loop_xz() {
    xz -T0 -3 -c ../data
}

loop_sysbench() {
    sysbench cpu --threads="$(nproc)" --time=2 run
    sysbench memory --threads=1 --time=2 --memory-total-size=1T run
}

loop_sqlite() {
    sqlite3 -bail file.db <../script.sql
}

loop_redis() {
    redis-benchmark -s redis.sock -q -n 50000 -c 20 -t set,get,lpush,lrange_100
}

loop_ffmpeg() {
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=640x360:rate=30:duration=5 \
        -c:v libx264 -preset medium -f null -
}

loop_h2() {
    java -Xmx512m -cp '../*' org.h2.tools.RunScript -url jdbc:h2:mem: -user sa -script ../script.sql
}

loop_lucene() {
    java -Xmx512m -cp '../*:..' Find ../source
}

loop_python() {
    python3 ../pool.py
}

loop_stress-ng() {
    local stress=(stress-ng --quiet --temp-path . --timeout 2)
    "${stress[@]}" --cpu 1 --pipe 1
    "${stress[@]}" --matrix "$(nproc)"
    "${stress[@]}" --fork 1 --switch 1
    "${stress[@]}" --vm 1 --vm-bytes 64M --cpu 1 --cpu-load 40
}

loop_nginx() {
    ab -q -n 20000 -c 16 "http://$address:18080/page"
}

# run_program NAME FOLDER: runs the program until it is killed. The file `errors` has the messages of the last turn.
run_program() {
    set -eu
    mkdir -p "$2/$((10#$SHOWSTOPPER_INSTANCE))"
    cd "$2/$((10#$SHOWSTOPPER_INSTANCE))"
    export TMPDIR=$PWD LC_ALL=C CCACHE_DISABLE=1
    unset MAKEFLAGS MFLAGS MAKELEVEL
    [ "$(type -t "serve_$1")" != function ] || "serve_$1" >/dev/null
    while :; do
        "loop_$1" >/dev/null 2>errors
    done
}
