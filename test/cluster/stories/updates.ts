import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { on, ready, startUnit } from "./by-hand";
import type { Action, ExpectedStep, Story } from "./story";

const PACKAGE = "story";
const MACHINES = ["cp-1", "w-1", "w-2"];
const REBOOT_SECONDS = 300;

/** Packs versions of a package, of which a repository on the machine, its only one, has the later. */
const OFFER = `
mkdir -p /srv/story /etc/apt/away
mv /etc/apt/sources.list /etc/apt/sources.list.d/* /etc/apt/away/ 2>/dev/null || true
pack() {
  root=/var/tmp/story-$1
  mkdir -p $root/DEBIAN
  printf 'Package: ${PACKAGE}\\nVersion: %s\\nArchitecture: all\\nMaintainer: Site <site@example.org>\\nDescription: of a story\\n' $1 >$root/DEBIAN/control
  printf '#!/bin/sh\\n%s\\n' "$2" >$root/DEBIAN/postinst
  chmod 0755 $root/DEBIAN/postinst
  dpkg-deb -Znone --build $root /srv/story/${PACKAGE}_$1.deb >/dev/null
  { cat $root/DEBIAN/control; echo "Filename: ./${PACKAGE}_$1.deb"; echo "Size: $(stat --format=%s /srv/story/${PACKAGE}_$1.deb)"
    echo "SHA256: $(sha256sum /srv/story/${PACKAGE}_$1.deb | cut -d ' ' -f 1)"; echo; } >/srv/story/Packages
}
echo 'deb [trusted=yes] file:/srv/story ./' >/etc/apt/sources.list.d/story.list
pack 1 :
`;

/** A machine has version 1, and its repository version 2, whose installation does something. */
const offers = (machine: string, does = ":"): Action =>
  on(machine, `${OFFER}\ndpkg --install /srv/story/${PACKAGE}_1.deb >/dev/null\npack 2 '${does}'`);
const offersNothing = (machine: string): Action => on(machine, OFFER);
const has = (machine: string, version: string): Action =>
  on(machine, `test "$(dpkg-query --show --showformat='\${Version}' ${PACKAGE})" = ${version}`);

/** A machine is as it was. */
const takesBack = (machine: string): Action =>
  on(
    machine,
    `dpkg --purge ${PACKAGE} >/dev/null 2>&1; rm -rf /etc/apt/sources.list.d/story.list /srv/story /var/tmp/story-*
for one in /etc/apt/away/*; do case $one in */sources.list) mv $one /etc/apt/ ;; *) mv $one /etc/apt/sources.list.d/ ;; esac; done
rm -rf /etc/apt/away /etc/systemd/system/foresail-node-agent.service.d /usr/local/lib/story; systemctl daemon-reload`,
  );

/** The node agent alone takes its machine for one that may reboot; the swap is the host's nevertheless. */
const mayReboot = (machine: string): Action =>
  on(
    machine,
    `mkdir -p /usr/local/lib/story /etc/systemd/system/foresail-node-agent.service.d
for one in systemd-detect-virt swapon swapoff; do printf '#!/bin/sh\\nexit %s\\n' $([ $one = swapoff ] && echo 0 || echo 1) >/usr/local/lib/story/$one; chmod 0755 /usr/local/lib/story/$one; done
printf '[Service]\\nEnvironment=PATH=/usr/local/lib/story:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\\n' >/etc/systemd/system/foresail-node-agent.service.d/story.conf
systemctl daemon-reload; systemctl restart foresail-node-agent`,
  );

/** What the machine of a container does not do by itself: it starts again when it has shut down. */
const startsAgain =
  (machine: string): Action =>
  async ({ fleet }) => {
    const isOff = async () => (await fleet.list()).some(({ name, running }) => name === machine && !running);
    const deadline = Date.now() + REBOOT_SECONDS * 1000;
    while (!(await isOff())) {
      assert.ok(Date.now() < deadline, `${machine} did not reboot within ${REBOOT_SECONDS} s`);
      await pause(500);
    }
    await fleet.start(machine);
  };

const edit = { fields: { rollout: { osUpdates: { security: false } } } };
const each = (kind: string): ExpectedStep[] => MACHINES.map((machine) => ({ kind, machine }));
const updates = (machine: string): ExpectedStep => ({
  kind: "update",
  machine,
  packages: 1,
  versions: `${PACKAGE} 2`,
});
/** The agents have read what is pending. */
const reported =
  (machine: string, pattern: RegExp): Action =>
  async (cluster) => {
    let report = "";
    for (let left = 60; !pattern.test(report); left -= 1) {
      assert.ok(left > 0, `${machine} reports "${report}"`);
      await pause(1000);
      const node = await cluster.withApi((client) => client.getNode(machine));
      report = node?.metadata?.annotations?.["alpha.os-updates.caos.ch/current-version"] ?? "";
    }
  };

/** Updates of the machines' operating systems. */
export const updateStories: readonly Story[] = [
  {
    title: "packages of two workers have updates, one of which asks for a reboot",
    runs: [
      {
        byHand: [
          offersNothing("cp-1"),
          offers("w-1", "touch /run/reboot-required"),
          offers("w-2"),
          mayReboot("w-1"),
        ],
        edit,
        preview: each("stage"),
        remarks: [/the next preview lists the pending updates of cp-1, w-1 and w-2|cp-1, w-1, w-2/],
        then: [
          has("w-1", "1"),
          reported("cp-1", /^none - 0/),
          ...["w-1", "w-2"].map((machine) => reported(machine, /^[0-9a-f]{12} - 1 - story=2$/)),
        ],
      },
      {
        edit,
        preview: [updates("w-1"), updates("w-2")],
        during: startsAgain("w-1"),
        then: [has("w-1", "2"), has("w-2", "2"), ready("w-1")],
      },
      { edit, preview: [] },
      { preview: each("unstage"), then: MACHINES.map(takesBack) },
    ],
  },
  {
    title: "an update fails, and is taken back",
    runs: [
      {
        byHand: [
          offersNothing("cp-1"),
          offersNothing("w-1"),
          offers("w-2", "echo broken by the site >&2; exit 1"),
        ],
        edit,
        preview: each("stage"),
        then: [reported("w-2", /^[0-9a-f]{12} - 1 - story=2$/)],
      },
      {
        edit,
        preview: [updates("w-2")],
        fails:
          /w-2: install the updates: dpkg: error processing (package|archive) .*story.*updates of the operating system do not go back/,
      },
      {
        preview: [...each("unstage"), { kind: "back", machine: "w-2" }],
        then: [
          ready("w-2"),
          ...MACHINES.map(takesBack),
          ...MACHINES.map((machine) => startUnit(machine, "foresail-node-agent")),
        ],
      },
    ],
  },
];
