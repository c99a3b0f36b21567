// SPDX-License-Identifier: GPL-2.0
/* The network device of the guest itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <net/if.h>
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
