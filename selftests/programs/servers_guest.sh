#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: records servers and their clients with all kernel events, and prints the logs.
#
# usage: servers_guest.sh [small]    small: less work, and logs that are not compressed
set -e
export requests=400 writes=200 lines=500 pages=50 rows=2000 programs=5
compress=lz4
if [ "$1" = small ]; then
	requests=12 writes=12 lines=40 pages=4 rows=100 programs=1
	compress=none
fi
ifconfig lo up
export HOME=/tmp LC_ALL=C
work=/tmp/servers
mkdir -p "$work"
cd "$work"
for user in root:x:0:0 postgres:x:70:70; do
	grep -qs "^${user%%:*}:" /etc/passwd || echo "$user::$work:/bin/sh" >>/etc/passwd
	grep -qs "^${user%%:*}:" /etc/group || echo "${user%:*}:" >>/etc/group
done

record()
{
	log=$1
	shift
	posixtrace record --quiet --inherit --kernel=all --size=16M --compress="$compress" \
		--output="$log.log" -- "$@" >"$log.out" 2>&1
}

# shellcheck disable=SC2016 # for the inner shell
record redis sh -c '
	redis-server --save "" --appendonly no &
	until redis-cli ping; do kill -0 $! || exit; done
	redis-benchmark -q -c 4 -n "$requests" -t set,get,lpush
	redis-cli shutdown nosave
	wait'

record python python3 -c '
import os, subprocess, threading

def work(number):
    with open(f"file{number}", "w") as file:
        for i in range(int(os.environ["writes"])):
            file.write(str(i))
            file.flush()

threads = [threading.Thread(target=work, args=(i,), name=f"worker {i}") for i in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for _ in range(int(os.environ["programs"])):
    subprocess.run(["true"], check=True)
    if not os.fork():
        os._exit(3)
    os.wait()
'

# shellcheck disable=SC2016
record git sh -c '
	set -e
	git init -q repository
	cd repository
	git config user.name a
	git config user.email a@b
	for i in 1 2 3; do
		seq "$i" "$lines" >"file$i"
		git add .
		git commit -q -m "$i"
	done
	git gc -q
	git clone -q . ../clone'

mkdir -p nginx/logs
cat >nginx/conf <<'END'
worker_processes 2;
daemon off;
user root root;
pid /tmp/servers/nginx/pid;
error_log /tmp/servers/nginx/error;
events { worker_connections 32; }
http {
	access_log off;
	client_body_temp_path /tmp/servers/nginx/body;
	proxy_temp_path /tmp/servers/nginx/proxy;
	fastcgi_temp_path /tmp/servers/nginx/fastcgi;
	uwsgi_temp_path /tmp/servers/nginx/uwsgi;
	scgi_temp_path /tmp/servers/nginx/scgi;
	server { listen 127.0.0.1:8080; root /tmp/servers; }
}
END
echo page >page
# shellcheck disable=SC2016
record nginx sh -c '
	nginx -e /tmp/servers/nginx/error -p /tmp/servers/nginx -c /tmp/servers/nginx/conf &
	until wget -q -O - http://127.0.0.1:8080/page; do kill -0 $! || exit; done
	for i in $(seq "$pages"); do wget -q -O - http://127.0.0.1:8080/page; done
	kill -QUIT "$(cat /tmp/servers/nginx/pid)"
	wait'

# PostgreSQL refuses to run as root.
mkdir -p postgres
chown 70:70 postgres
chmod 755 "$work"
busybox su -s /bin/sh postgres -c "/usr/lib/postgresql/15/bin/initdb --no-sync -A trust \
	-D $work/postgres/data" >initdb.out 2>&1 || {
	cat initdb.out
	exit 1
}
cat >postgres/run <<'END'
cd /tmp/servers/postgres
bin=/usr/lib/postgresql/15/bin
$bin/postgres -D data -k /tmp/servers/postgres -c jit=off -c fsync=off \
	-c listen_addresses= -c dynamic_shared_memory_type=mmap &
until $bin/psql -h /tmp/servers/postgres -d postgres -c 'SELECT 1'; do kill -0 $! || exit; done
$bin/psql -h /tmp/servers/postgres -d postgres -c "CREATE TABLE item AS SELECT i, i * 2 AS j
	FROM generate_series(1, $rows) AS i; SELECT sum(j) FROM item; ANALYZE item"
$bin/pg_ctl stop -D data -m fast
wait
END
record postgres busybox su -s /bin/sh postgres -c 'sh /tmp/servers/postgres/run'

tar -czf - ./*.log ./*.out | base64 | sed 's/^/file /' >/dev/report
