import { findProgram } from "../processes/program.ts";
import { FILTER_DESCRIPTOR, SYSTEM_PATH } from "./launch.ts";

/** The number of `prctl` on the processors that there are filters for, as Node names them. */
const PRCTL: Readonly<Record<string, number>> = {
  ...{ x64: 157, arm64: 167, riscv64: 167, loong64: 167 },
};

/**
 * Reads the filter, loads it with prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, struct sock_fprog *), and becomes the command.
 * Nothing runs if that fails. The kernel allows it because privileges cannot be gained any more by then.
 */
const PERL_LOADER = `
my $number = shift @ARGV;
open(my $file, "<&=", ${FILTER_DESCRIPTOR}) or die "flint: no filter: $!\\n";
binmode $file; local $/; my $code = <$file>; close $file;
my $program = pack("S x![P] P", length($code) / 8, $code);
syscall($number, 22, 2, $program) == 0 or die "flint: the seccomp filter cannot be loaded: $!\\n";
exec { $ARGV[0] } @ARGV; die "flint: $ARGV[0]: $!\\n";
`;

/**
 * Returns the arguments before a command that load a seccomp filter without bubblewrap: setpriv where it can
 * (util-linux 2.40), else perl, which every Debian has. Undefined if neither can. `help` is the output of
 * `setpriv --help`.
 */
export async function findFilterLoader(
  setpriv: string,
  help: string,
  architecture: string = process.arch,
): Promise<readonly string[] | undefined> {
  if (help.includes("--seccomp-filter"))
    return [setpriv, "--seccomp-filter", `/proc/self/fd/${FILTER_DESCRIPTOR}`, "--"];
  const [perl, number] = [await findProgram("perl", SYSTEM_PATH), PRCTL[architecture]];
  if (perl === undefined || number === undefined) return undefined;
  return [perl, "-e", PERL_LOADER, "--", String(number)];
}
