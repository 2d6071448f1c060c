import { durationText } from "../../../../lib/clock";
import {
  type AskedMachine,
  factOf,
  type Found,
  isContainer,
  linesOf,
  numberOf,
  type SharedFactRow,
} from "./machine-reading";
import { MOST_CLOCK_MILLISECONDS } from "./system-rows";

/** Seconds are read, and the way to a machine takes time: what differs by less may be equal. */
const CLOCK_WARNING_MILLISECONDS = 10_000;

/** Returns what is found where several machines have the same value. */
function repeated(
  asked: readonly AskedMachine[],
  valuesOf: (machine: AskedMachine) => readonly string[],
  fact: (other: string, value: string) => string,
): Map<string, Found> {
  const first = new Map<string, string>();
  const found = new Map<string, Found>();
  for (const each of asked)
    for (const value of valuesOf(each)) {
      const { name } = each.machine;
      const other = first.get(value);
      if (other === undefined) first.set(value, name);
      else if (other !== name) found.set(name, { fact: fact(other, value) });
    }
  return found;
}

const one = (text: string | undefined) => (text === undefined || text === "" ? [] : [text]);

/** Returns the machines whose clocks differ from that of the first by more than a limit, and how much. */
function clocks(asked: readonly AskedMachine[]): { name: string; first: string; difference: number }[] {
  const known = asked.flatMap(({ machine, reading }) => {
    const seconds = numberOf({ reading }, "clock");
    return seconds === undefined ? [] : [{ name: machine.name, offset: seconds * 1000 - reading.at }];
  });
  const [first] = known;
  if (first === undefined) return [];
  return known.map(({ name, offset }) => ({
    name,
    first: first.name,
    difference: Math.abs(offset - first.offset),
  }));
}

/** Rows about machines that are compared with each other. */
export const SHARED_ROWS: readonly SharedFactRow[] = [
  {
    name: "machine-id",
    read: "/etc/machine-id",
    level: "refused",
    needs: "one of its own",
    fix: "Run on one of them: rm -f /etc/machine-id /var/lib/dbus/machine-id; systemd-machine-id-setup; reboot",
    find: (asked) =>
      repeated(
        asked,
        (each) => one(factOf(each, "machineId")?.replace(/^uninitialized$/, "")),
        (other, id) =>
          `it has the machine-id of ${other} (${id}), as copies of one disk have; logs, leases of addresses and Nodes are told apart by it`,
      ),
  },
  {
    name: "product UUID",
    read: "/sys/class/dmi/id/product_uuid",
    level: "warning",
    needs: "one of its own",
    fix: "Give each virtual machine its own UUID",
    find: (asked) =>
      repeated(
        asked,
        (each) => (isContainer(each) ? [] : one(factOf(each, "productId"))),
        (other, id) =>
          `it has the product UUID of ${other} (${id}), by which some programs tell machines apart`,
      ),
  },
  {
    name: "hardware addresses",
    read: "/sys/class/net",
    level: "refused",
    needs: "its own",
    fix: "Give each virtual machine its own MAC address",
    find: (asked) =>
      repeated(
        asked,
        (each) => linesOf(each, "hardwareAddresses").filter((address) => !/^(00:){5}00$/.test(address)),
        (other, address) =>
          `its device has the MAC address ${address} of ${other}, so that packets reach one or the other`,
      ),
  },
  {
    name: "host name",
    read: "uname",
    level: "warning",
    needs: "one of its own",
    fix: "Run on one of them: hostnamectl set-hostname NAME",
    find: (asked) =>
      repeated(
        asked,
        (each) => one(factOf(each, "hostName")),
        (other, name) => `it has the host name ${name} of ${other}, and logs of both are mixed up`,
      ),
  },
  {
    name: "clocks of the machines",
    read: "date",
    level: "refused",
    needs: "the same time, to 5 minutes",
    fix: "Run on the wrong one: timedatectl set-ntp true",
    find: (asked) =>
      new Map(
        clocks(asked).flatMap(({ name, first, difference }) =>
          difference > MOST_CLOCK_MILLISECONDS
            ? [
                [
                  name,
                  {
                    fact: `its clock differs by ${durationText(difference)} from that of ${first}, so that certificates are not valid on both`,
                  },
                ] as const,
              ]
            : [],
        ),
      ),
  },
  {
    name: "clocks of etcd's members",
    read: "date",
    level: "warning",
    needs: "the same time, to 10 seconds",
    fix: "Run on both: timedatectl set-ntp true",
    find: (asked) =>
      new Map(
        clocks(asked.filter(({ machine }) => machine.role === "control-plane")).flatMap(
          ({ name, first, difference }) =>
            difference > CLOCK_WARNING_MILLISECONDS && difference <= MOST_CLOCK_MILLISECONDS
              ? [
                  [
                    name,
                    {
                      fact: `its clock differs by ${durationText(difference)} from that of ${first}, of which etcd warns`,
                    },
                  ] as const,
                ]
              : [],
        ),
      ),
  },
  {
    name: "MTU of the machines",
    read: "/sys/class/net",
    level: "warning",
    needs: "the same on all",
    fix: "Run on the one with the smaller: ip link set dev DEVICE mtu, if its network allows it",
    find: (asked) => {
      const [first, ...others] = asked.filter((each) => numberOf(each, "mtu") !== undefined);
      return new Map(
        others.flatMap((each) => {
          const [own, theirs] = [numberOf(each, "mtu"), first && numberOf(first, "mtu")];
          return own === theirs
            ? []
            : [
                [
                  each.machine.name,
                  {
                    fact: `its MTU is ${own}, and that of ${first?.machine.name} is ${theirs}: large packets between pods can be lost`,
                  },
                ] as const,
              ];
        }),
      );
    },
  },
];
