import assert from "node:assert/strict";
import fc from "fast-check";
import { parse } from "yaml";
import { renderCloudsFile } from "../../../../sandbox/openstack/clouds-file";
import { renderIni } from "../../../../sandbox/openstack/configuration/ini";
import { CONFIGURATIONS } from "../../../../sandbox/openstack/configuration/services";
import { planSeed, publicAddresses } from "../../../../sandbox/openstack/seed";
import {
  gunicornSettings,
  pythonEnvironment,
  serviceProcess,
} from "../../../../sandbox/openstack/service-processes";
import {
  assignPorts,
  generatePasswords,
  PORT_COUNT,
  portsOf,
  SERVICES,
  servicesOf,
} from "../../../../sandbox/openstack/settings";
import { samplePaths, sampleSettings } from "./cloud-settings";

const settings = sampleSettings();
const configured = { settings, paths: samplePaths, environment: "/python" };

/** Sections and options of an oslo.config file. */
function readIni(text: string): Record<string, Record<string, string>> {
  const sections: Record<string, Record<string, string>> = {};
  let current: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const section = /^\[(.+)\]$/.exec(line)?.[1];
    if (section !== undefined) current = sections[section] = {};
    const [, option, value] = /^(\w+) = (.*)$/.exec(line) ?? [];
    if (option !== undefined) current[option] = value ?? "";
  }
  return sections;
}

describe("the configuration of the sandbox's OpenStack", () => {
  for (const service of SERVICES) {
    it(`lets ${service} call its peers behind the faults, with the services' own user`, () => {
      const sections = readIni(CONFIGURATIONS[service].render(configured));
      const logins = Object.values(sections).filter((section) => "auth_url" in section);
      if (service !== "keystone") assert.ok(logins.length > 0);
      for (const login of logins) {
        assert.equal(login["auth_url"], `http://127.0.0.1:${settings.ports.internal.keystone}/v3`);
        assert.equal(login["password"], settings.passwords.service);
      }
      for (const other of ["administrator", "project", "credential", "control"] as const)
        assert.ok(!JSON.stringify(sections).includes(settings.passwords[other]), other);
    });
  }

  it("keeps every file of the cloud in its folder", () => {
    for (const service of SERVICES) {
      const text = CONFIGURATIONS[service].render(configured);
      const files = [...text.matchAll(/ = (?:sqlite:\/\/\/)?(\/\S+)$/gm)].map(([, file]) => file ?? "");
      assert.ok(files.length > 0, service);
      for (const file of files)
        assert.ok(file.startsWith("/sandbox/openstack/") || file.startsWith("/python/etc/"), file);
    }
  });

  it("writes a dollar sign so that oslo.config reads one, and refuses a line break", () => {
    assert.equal(renderIni({ a: { b: "x$y" } }), "[a]\nb = x$$y\n");
    assert.throws(() => renderIni({ a: { b: "x\ny" } }), /the option b of \[a\] has a line break/);
  });

  it("puts no password into the arguments of a process", () => {
    for (const service of SERVICES) {
      const { command, args } = serviceProcess(service, "/python/bin/python", samplePaths, settings);
      const passwords = Object.values<string>({ ...settings.passwords });
      assert.ok(passwords.length > 0 && passwords.every((password) => password.length > 0));
      for (const password of passwords)
        assert.ok(![command, ...args].some((word) => word.includes(password)));
    }
  });

  it("passes none of the user's own cloud and proxies to the services", () => {
    const base = {
      PATH: "/bin",
      OS_PASSWORD: "x",
      https_proxy: "x",
      NO_PROXY: "x",
      PYTHONHOME: "x",
    };
    const environment = pythonEnvironment(samplePaths, { containers: false }, base);
    assert.deepEqual(Object.keys(environment).sort(), [
      "FORESAIL_FLOATING_IPS",
      "FORESAIL_VOLUME_FAULT",
      "PATH",
      "PYTHONDONTWRITEBYTECODE",
      "PYTHONPATH",
      "PYTHONUNBUFFERED",
      "PYTHONWARNINGS",
    ]);
  });

  it("gives SQLite one thread per service", () => {
    assert.match(gunicornSettings(samplePaths, "neutron", 20_003).text, /^threads = 1$/m);
    assert.match(gunicornSettings(samplePaths, "neutron", 20_003).text, /^bind = "127\.0\.0\.1:20003"$/m);
  });
});

describe("ports and passwords of a cloud", () => {
  it("are all different", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 1024, max: 65_535 }), {
          minLength: PORT_COUNT,
          maxLength: PORT_COUNT,
        }),
        (free) => assert.deepEqual(portsOf(assignPorts(free)).sort(), [...free].sort()),
      ),
    );
    assert.equal(new Set(Object.values(generatePasswords())).size, 5);
  });

  it("require enough ports", () => {
    assert.throws(() => assignPorts([1, 2, 3]), /needs 15 ports, not 3/);
  });
});

describe("initial contents of the sandbox's OpenStack", () => {
  for (const [service, type] of [
    ["octavia", "load-balancer"],
    ["cinder", "block-storage"],
  ] as const)
    it(`has ${type} in its catalog, and runs ${service}, only on request`, () => {
      const types = (has: boolean) =>
        planSeed(sampleSettings({ [service]: has })).catalog.map((entry) => entry.type);
      assert.deepEqual(
        types(true).filter((each) => !types(false).includes(each)),
        [type],
      );
      assert.deepEqual(servicesOf({ octavia: false, cinder: false, [service]: true }), [
        ...["keystone", "placement", "glance", "neutron", "nova"],
        service,
      ]);
    });

  it("routes clients through the faults and services around them", () => {
    const nova = planSeed(settings).catalog.find(({ type }) => type === "compute");
    assert.equal(nova?.public, `http://127.0.0.1:${settings.ports.public.nova}/v2.1`);
    assert.equal(nova?.internal, `http://127.0.0.1:${settings.ports.internal.nova}/v2.1`);
  });

  it("assigns addresses of the external network that are not this machine's", () => {
    assert.deepEqual(publicAddresses("10.77.9.0/24"), {
      gateway: "10.77.9.1",
      first: "10.77.9.10",
      last: "10.77.9.250",
    });
    assert.throws(() => publicAddresses("10.77.0.0/16"), /is not a \/24/);
  });

  it("is found by clients at the address where its servers reach it, on request, and by its own parts locally", () => {
    const reached = { ...settings, address: "192.0.2.7" };
    for (const { public: outside, internal } of planSeed(reached).catalog) {
      assert.equal(new URL(outside).hostname, "192.0.2.7");
      assert.equal(new URL(internal).hostname, "127.0.0.1");
    }
    const { clouds } = parse(renderCloudsFile(reached, "id-1")) as {
      clouds: Record<string, { auth: Record<string, string> }>;
    };
    const hosts = Object.entries(clouds).map(([name, { auth }]) => [
      name,
      new URL(auth.auth_url ?? "").hostname,
    ]);
    assert.deepEqual(Object.fromEntries(hosts), {
      "foresail-sandbox": "192.0.2.7",
      "foresail-sandbox-user": "192.0.2.7",
      "foresail-sandbox-admin": "192.0.2.7",
      "foresail-sandbox-internal": "127.0.0.1",
    });
  });

  it("names the project's entry of clouds.yaml only when its credential was created", () => {
    const entries = (credential: string | undefined) =>
      (
        parse(renderCloudsFile(settings, credential)) as {
          clouds: Record<string, { auth: Record<string, string> }>;
        }
      ).clouds;
    assert.equal(entries(undefined)["foresail-sandbox"], undefined);
    assert.deepEqual(entries("id-1")["foresail-sandbox"]?.auth, {
      auth_url: `http://127.0.0.1:${settings.ports.public.keystone}/v3`,
      application_credential_id: "id-1",
      application_credential_secret: "credential-password",
    });
  });
});
