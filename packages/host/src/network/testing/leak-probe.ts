import { connect } from "node:net";
import { NetworkFixture, networkTools } from "./network-commands.ts";

/** Listeners of the user's machine that no command may reach. */
export interface Listeners {
  readonly tcpPort: number;
  readonly udpPort: number;
  /** The one port that a command is given, to see that the others are closed and not just broken. */
  readonly servedPort: number;
  /** The name of an abstract socket, without its leading NUL. */
  readonly abstractName: string;
}

/** Tries to get out in every way there is, and prints a line for each: a name, and an errno, a status or "reached". */
const PROBE = `
use strict; use warnings; use Socket qw(:all); $| = 1;
my ($tcp, $udp, $abstract) = @ARGV;
sub attempt {
  my ($name, $family, $type, $protocol, $address) = @_;
  socket(my $socket, $family, $type, $protocol) or return print "$name ", $! + 0, "\\n";
  return print "$name reached\\n" unless defined $address;
  connect($socket, $address) or return print "$name ", $! + 0, "\\n";
  my $sent = send($socket, "leak", 0);
  print "$name ", ($type == SOCK_DGRAM && $name =~ /^host/ ? "sent" : "reached"), "\\n";
}
sub four { pack_sockaddr_in($_[1], inet_aton($_[0])) }
sub six { pack_sockaddr_in6($_[1], inet_pton(AF_INET6, $_[0])) }
attempt("tcp", AF_INET, SOCK_STREAM, 0, four("1.1.1.1", 443));
attempt("udp", AF_INET, SOCK_DGRAM, 0, four("1.1.1.1", 53));
attempt("tcp6", AF_INET6, SOCK_STREAM, 0, six("2606:4700::1111", 443));
attempt("udp6", AF_INET6, SOCK_DGRAM, 0, six("2606:4700::1111", 53));
attempt("metadata", AF_INET, SOCK_STREAM, 0, four("169.254.169.254", 80));
attempt("private", AF_INET, SOCK_STREAM, 0, four("10.0.0.1", 80));
attempt("host-tcp", AF_INET, SOCK_STREAM, 0, four("127.0.0.1", $tcp));
attempt("host-udp", AF_INET, SOCK_DGRAM, 0, four("127.0.0.1", $udp));
attempt("abstract", AF_UNIX, SOCK_STREAM, 0, pack("S a*", AF_UNIX, "\\0$abstract"));
attempt("raw", AF_INET, SOCK_RAW, 1);
attempt("packet", 17, SOCK_RAW, 0);
attempt("vsock", 40, SOCK_STREAM, 0, pack("S S L L L", 40, 0, 80, 2, 0));
attempt("alg", 38, SOCK_SEQPACKET, 0);
print "dns ", (defined gethostbyname("leak.example") ? "reached" : "none"), "\\n";
my $users = system("unshare --user --net true 2>/dev/null") == 0;
print "unshare ", ($users ? "reached" : "none"), "\\n";
for my $target ("10.0.0.1:80", "127.0.0.1:$tcp", "0x7f.1:$tcp", "2130706433:$tcp", "[::1]:$tcp", "[::ffff:127.0.0.1]:$tcp",
                "169.254.169.254:80", "a\\0.allowed.example:443", "localhost:$tcp", "inside.example:443", "other.example:443") {
  socket(my $socket, AF_INET, SOCK_STREAM, 0);
  connect($socket, four("127.0.0.1", 3128)) or die "no proxy: $!";
  send($socket, "CONNECT $target HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n", 0);
  my $status = <$socket> // "";
  (my $shown = $target) =~ s/\\0/NUL/; $shown =~ s/:$tcp$/:PORT/;
  print "CONNECT-$shown ", ($status =~ /^HTTP.1.1 (\\d+)/ ? $1 : "none"), "\\n";
}
`;

/**
 * Returns the outcome of each attempt of a command, in a thread that may reach `*.allowed.example` and
 * `inside.example`.
 */
export async function probeLeaks(listeners: Listeners): Promise<Record<string, string>> {
  let dials = 0;
  const fixture = await NetworkFixture.create({
    tools: networkTools(),
    allow: ["*.allowed.example", "inside.example"],
    dial: {
      resolve: async () => ["10.0.0.1", "127.0.0.1", "169.254.169.254", "fd00:ec2::254"],
      connect: ([address], port) => {
        if (address === "127.0.0.1" && port === listeners.servedPort) return connect(port, address);
        dials += 1;
        throw new Error("dialled");
      },
    },
  });
  const quoted = PROBE.replaceAll("'", "'\\''");
  const { tcpPort, udpPort, abstractName } = listeners;
  const { stdout, stderr } = await fixture.run(`perl -e '${quoted}' ${tcpPort} ${udpPort} ${abstractName}`);
  const { servedPort } = listeners;
  const fetch = `perl -MIO::Socket::INET -e 'print IO::Socket::INET->new("127.0.0.1:${servedPort}")->getline'`;
  const relay = await fixture.run(fetch, { hosts: [`localhost:${servedPort}`] });
  await fixture.remove();
  const lines = stdout.trim().split("\n");
  return {
    ...Object.fromEntries(lines.map((line) => line.split(" "))),
    dials: String(dials),
    stderr,
    relay: relay.stdout,
  };
}
