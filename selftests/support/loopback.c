// SPDX-License-Identifier: GPL-2.0
/* The loopback device of the guest. */
#define _GNU_SOURCE
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loopback.h"

int loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret;

	if (fd < 0)
		return -errno;
	ret = ioctl(fd, SIOCGIFFLAGS, &request);
	request.ifr_flags |= IFF_UP;
	ret = ret || ioctl(fd, SIOCSIFFLAGS, &request) ? -errno : 0;
	close(fd);
	return ret;
}

int loopback_pair(int ends[2])
{
	struct sockaddr_in name = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int writer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(name);
	int err = loopback_up();

	if (!err && (listener < 0 || writer < 0 ||
		     bind(listener, (struct sockaddr *)&name, len) || listen(listener, 1) ||
		     getsockname(listener, (struct sockaddr *)&name, &len) ||
		     connect(writer, (struct sockaddr *)&name, len)))
		err = -errno;
	ends[0] = err ? -1 : accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	ends[1] = writer;
	if (!err && ends[0] < 0)
		err = -errno;
	close(listener);
	if (err)
		close(writer);
	return err;
}
