// SPDX-License-Identifier: GPL-2.0
/*
 * What a socket is, as text: "tcp:127.0.0.1:6379->127.0.0.1:50000", "unix:/run/x,pid=7".
 *
 * The functions of the protocols that return addresses take the lock of the socket, and may sleep.
 * Here, addresses are read twice without the lock, and are used only if both results are equal.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/kernel.h>
#include <linux/net.h>
#include <linux/pid.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/un.h>
#include <net/af_unix.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <net/tcp_states.h>

#include "target/sockname.h"

/* Maximum attempts if the addresses of a socket keep changing. */
#define TRIES	3

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/**
 * struct addresses - the addresses of an internet socket
 * @local: the local address
 * @peer: the remote address; port 0 if the socket has no peer
 * @listens: the socket accepts connections
 */
struct addresses {
	union address local;
	union address peer;
	bool listens;
};

static __be16 read_port(const __be16 *port)
{
	/*
	 * The kernel writes the port with plain stores. If it does so here, the second read
	 * returns another value.
	 */
	return data_race(READ_ONCE(*port));
}

static __be32 read_v4(const __be32 *address)
{
	/* As in read_port(). */
	return data_race(READ_ONCE(*address));
}

static void read_addresses(const struct sock *sk, struct addresses *to)
{
	const struct inet_sock *inet = inet_sk(sk);

	memset(to, 0, sizeof(*to));
	to->listens = READ_ONCE(sk->sk_state) == TCP_LISTEN;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		to->local.v6.sin6_family = AF_INET6;
		/* As in read_port(). */
		to->local.v6.sin6_addr = data_race(sk->sk_v6_rcv_saddr);
		to->local.v6.sin6_port = read_port(&inet->inet_sport);
		to->peer.v6.sin6_family = AF_INET6;
		/* As in read_port(). */
		to->peer.v6.sin6_addr = data_race(sk->sk_v6_daddr);
		to->peer.v6.sin6_port = read_port(&inet->inet_dport);
		return;
	}
#endif
	to->local.v4.sin_family = AF_INET;
	to->local.v4.sin_addr.s_addr = read_v4(&inet->inet_rcv_saddr);
	to->local.v4.sin_port = read_port(&inet->inet_sport);
	to->peer.v4.sin_family = AF_INET;
	to->peer.v4.sin_addr.s_addr = read_v4(&inet->inet_daddr);
	to->peer.v4.sin_port = read_port(&inet->inet_dport);
}

/* Returns false if the addresses keep changing. */
static bool read_settled(const struct sock *sk, struct addresses *to)
{
	struct addresses again;
	u32 i;

	for (i = 0; i < TRIES; i++) {
		read_addresses(sk, to);
		/* Order the two reads, because the kernel writes the addresses without barriers. */
		smp_rmb();
		read_addresses(sk, &again);
		if (!memcmp(to, &again, sizeof(again)))
			return true;
	}
	return false;
}

static const char *inet_name(const struct sock *sk)
{
	switch (sk->sk_protocol) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return "icmp";
	case IPPROTO_SCTP:
		return "sctp";
	case IPPROTO_UDPLITE:
		return "udplite";
	case IPPROTO_MPTCP:
		return "mptcp";
	default:
		return sk->sk_type == SOCK_RAW ? "raw" : "ip";
	}
}

/* The port is at the same place in IPv4 and IPv6 addresses. */
static bool has_port(const union address *address)
{
	BUILD_BUG_ON(offsetof(struct sockaddr_in, sin_port) !=
		     offsetof(struct sockaddr_in6, sin6_port));
	return address->v4.sin_port;
}

static void put_inet(const struct sock *sk, char *to, size_t size)
{
	struct addresses addresses;
	size_t at;

	at = scnprintf(to, size, "%s", inet_name(sk));
	if (!read_settled(sk, &addresses))
		return;
	if (has_port(&addresses.local))
		at += scnprintf(to + at, size - at, ":%pISpc", &addresses.local.any);
	if (has_port(&addresses.peer))
		at += scnprintf(to + at, size - at, "->%pISpc", &addresses.peer.any);
	if (addresses.listens)
		scnprintf(to + at, size - at, ",listening");
}

#if IS_ENABLED(CONFIG_UNIX)
/* An address is never changed once it is set, and lives as long as its socket. */
static size_t put_path(struct sock *sk, const char *before, char *to, size_t size)
{
	/* Pairs with the release of bind(). */
	const struct unix_address *address = smp_load_acquire(&unix_sk(sk)->addr);
	size_t len, at, i;

	if (!address || address->len <= offsetof(struct sockaddr_un, sun_path))
		return 0;
	len = address->len - offsetof(struct sockaddr_un, sun_path);
	/* A path is terminated; an abstract name begins with a null byte. */
	if (address->name->sun_path[0])
		len = strnlen(address->name->sun_path, len);
	at = scnprintf(to, size, "%s", before);
	for (i = 0; i < len && at + 1 < size; i++)
		to[at++] = address->name->sun_path[i] ?: '@';
	to[at] = '\0';
	return at;
}

static pid_t peer_pid(struct sock *sk, struct pid_namespace *ns)
{
	pid_t pid;

	spin_lock(&sk->sk_peer_lock);
	pid = pid_nr_ns(sk->sk_peer_pid, ns);
	spin_unlock(&sk->sk_peer_lock);
	return pid;
}

static void put_unix(struct sock *sk, struct pid_namespace *ns, char *to, size_t size)
{
	const bool listens = READ_ONCE(sk->sk_state) == TCP_LISTEN;
	pid_t pid = listens ? 0 : peer_pid(sk, ns);
	struct sock *peer;
	size_t at;

	at = scnprintf(to, size, "unix");
	at += put_path(sk, ":", to + at, size - at);
	/* While the lock is held, the socket keeps its peer. */
	unix_state_lock(sk);
	peer = unix_peer(sk);
	if (peer && peer != sk)
		at += put_path(peer, "->", to + at, size - at);
	unix_state_unlock(sk);
	if (pid)
		at += scnprintf(to + at, size - at, ",pid=%d", pid);
	if (listens)
		scnprintf(to + at, size - at, ",listening");
}
#else
static void put_unix(struct sock *sk, struct pid_namespace *ns, char *to, size_t size)
{
	strscpy(to, "unix", size);
}
#endif

static const char *family_name(int family)
{
	switch (family) {
	case AF_NETLINK:
		return "netlink";
	case AF_PACKET:
		return "packet";
	case AF_VSOCK:
		return "vsock";
	case AF_ALG:
		return "alg";
	case AF_XDP:
		return "xdp";
	default:
		return "socket";
	}
}

/**
 * pxt_sockname_put() - write what a socket is
 * @socket: the socket; its file is open
 * @ns: pid namespace of the controller
 * @to: where to write: the protocol, the addresses, and the process at the other end of a UNIX
 *	socket, which is the one that connected or listened
 * @size: bytes at @to
 *
 * Context: does not sleep; the caller may hold spinlocks that the code of sockets does not take.
 */
void pxt_sockname_put(const struct socket *socket, struct pid_namespace *ns, char *to, size_t size)
{
	struct sock *sk = READ_ONCE(socket->sk);

	if (!sk)
		strscpy(to, "socket", size);
	else if (sk->sk_family == AF_INET || sk->sk_family == AF_INET6)
		put_inet(sk, to, size);
	else if (sk->sk_family == AF_UNIX)
		put_unix(sk, ns, to, size);
	else
		strscpy(to, family_name(sk->sk_family), size);
}
