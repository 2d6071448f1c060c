import assert from "node:assert/strict";
import Ajv from "ajv";
import { stringify } from "yaml";
import { layerJsonSchema, stackFileJsonSchema } from "../../../../scripts/configuration-schema";
import { LayerFileError } from "../../../../lib/layers/layer-file";
import { type ConfigurationReader, loadConfiguration } from "../../../../stacks/schema";
import { cluster, reader, worker } from "./valid";

/** A stack prod-eu1 over the layer prod. */
function layered(layer: unknown, stack: unknown, others: Record<string, string> = {}): ConfigurationReader {
  const text = typeof layer === "string" ? layer : stringify({ config: layer });
  return {
    ...reader(stack, { "foresail:layer": "prod", ...others }),
    stack: "prod-eu1",
    readLayer: (name) => ({ file: `layers/${name}.yaml`, text }),
  };
}

const failure = (of: ConfigurationReader): string => {
  try {
    loadConfiguration(of);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
};

const { name, ...SHARED } = cluster();
const PROD = { "foresail:cluster": { ...SHARED, timeouts: { joinSeconds: 700 } } };

describe("configuration: layers", () => {
  it("are merged under the stack file before the validation", () => {
    const machines = [...(SHARED.machines as object[]), worker({ name: "w-2", address: "192.0.2.22" })];
    const read = loadConfiguration(layered(PROD, { name, machines, timeouts: { joinSeconds: null } }));
    assert.ok(read.system === "ssh");
    assert.equal(read.cluster.version, "1.36.3");
    assert.equal(read.cluster.machines.length, 3);
    assert.notEqual(read.cluster.timeouts.joinSeconds, 700);
  });

  it("name the system", () => {
    const said = failure(layered({ ...PROD, "foresail:system": "shh" }, { name }));
    assert.equal(
      said,
      'layers/prod.yaml has 1 validation issue; nothing was changed:\n  system: "shh" is not a system; did you mean "ssh"? (line 13)',
    );
  });

  it("have their issues named with their file and path, those of the stack file with its own", () => {
    const said = failure(
      layered({ "foresail:cluster": { ...SHARED, version: "1.36" } }, { name: "A b", x: 1 }),
    );
    assert.match(
      said,
      /^Pulumi\.prod-eu1\.yaml has 2 validation issues; nothing was changed:\n {2}cluster\.name: .*\n {2}cluster\.x: .*\nlayers\/prod\.yaml has 1 validation issue; nothing was changed:\n {2}cluster\.version: .*$/,
    );
  });

  it("may use old names that the stack file replaces by current ones", () => {
    const warned: string[] = [];
    const { network: _, ...rest } = SHARED as Record<string, unknown>;
    const old = { "foresail:cluster": { ...rest, network: { podCidr: "10.1.0.0/16" } } };
    const read = loadConfiguration(layered(old, { name, network: { podSubnet: "10.2.0.0/16" } }), (line) =>
      warned.push(line),
    );
    assert.ok(read.system === "ssh");
    assert.equal(read.cluster.network.podSubnet, "10.2.0.0/16");
    assert.match(warned.join(), /^layers\/prod\.yaml has old names:\n {2}cluster\.network\.podCidr: /);
  });

  const SECRET = "correct horse battery staple";
  const refused: [what: string, of: ConfigurationReader, said: RegExp][] = [
    ...["x", ["x"], 3, true].map((value): [string, ConfigurationReader, RegExp] => [
      `${JSON.stringify(value)} in the place of a map, which the stack file would replace`,
      layered({ "foresail:cluster": value }, cluster()),
      /^layers\/prod\.yaml has 1 validation issue.*\n {2}cluster: is not a map; write its fields below it/,
    ]),
    [
      "a secret in a layer, without repeating it",
      layered({ ...PROD, "foresail:sshPrivateKey": SECRET }, { name }),
      /^layers\/prod\.yaml has 1 .*\n {2}sshPrivateKey: is secret, and a layer is not encrypted; .*pulumi config set --secret foresail:sshPrivateKey$/,
    ],
    [
      "an encrypted value in a layer",
      layered({ ...PROD, "foresail:registryCredentials": { a: { secure: "v1:x" } } }, { name }),
      /^layers\/prod\.yaml has 1 .*\n {2}registryCredentials: is secret/,
    ],
    [
      "a private key in a field of a layer",
      layered(
        { "foresail:cluster": { ...SHARED, kubelet: { systemCgroups: "-----BEGIN PRIVATE KEY-----" } } },
        { name },
      ),
      /layers\/prod\.yaml has .*\n(.*\n)* {2}cluster\.kubelet\.systemCgroups: contains a private key/,
    ],
    [
      "an unknown key of a layer",
      layered({ ...PROD, "foresail:clustr": {} }, { name }),
      /^layers\/prod\.yaml has 1 .*\n {2}clustr: is not known; did you mean "cluster"\? \(line 13\)$/,
    ],
    [
      "a key of another system in a layer",
      layered({ ...PROD, "foresail:azimuth": {} }, { name }),
      /^layers\/prod\.yaml has 1 .*\n {2}azimuth: belongs to the system "azimuth"/,
    ],
    [
      "a layer below a layer",
      layered({ ...PROD, "foresail:layer": "all" }, { name }),
      /^layers\/prod\.yaml has 1 .*\n {2}layer: is read in a stack file only/,
    ],
    [
      "a provider's key in a layer",
      layered({ ...PROD, "openstack:region": "x" }, { name }),
      /^layers\/prod\.yaml has 1 .*\n {2}\["openstack:region"\]: is not a key of foresail/,
    ],
    [
      "a key of a layer without its project",
      layered({ ...PROD, cluster: {} }, { name }),
      /^layers\/prod\.yaml has 1 .*\n {2}cluster: is without its project; write "foresail:cluster"/,
    ],
    [
      "a layer that is not YAML",
      layered("config: [", { name }),
      /^layers\/prod\.yaml has 1 .*\n.*is not YAML: /,
    ],
    [
      "a layer with a list",
      layered("- a", { name }),
      /^layers\/prod\.yaml has 1 .*\n.*is not a map; write config: /,
    ],
    [
      "too many aliases",
      layered(`a: &a [${"1,".repeat(99)}1]\nb: &b [${"*a,".repeat(99)}*a]\nconfig: [${"*b,".repeat(99)}*b]`, {
        name,
      }),
      /^layers\/prod\.yaml has 1 .*\n.*has too many aliases/,
    ],
    [
      "a name that leaves the folder",
      layered(PROD, { name }, { "foresail:layer": "../prod" }),
      /^Pulumi\.prod-eu1\.yaml has 1 .*\n {2}layer: "\.\.\/prod" is not the name of a layer/,
    ],
    [
      "a layer that does not exist, and nothing else",
      {
        ...layered(PROD, {}),
        readLayer: () => {
          throw new LayerFileError('names the layer "prod", but …');
        },
      },
      /^Pulumi\.prod-eu1\.yaml has 1 .*\n {2}layer: names the layer "prod", but …$/,
    ],
  ];
  for (const [what, of, said] of refused)
    it(`refuses ${what}`, () => {
      const message = failure(of);
      assert.match(message, said);
      assert.equal(message.includes(SECRET), false);
    });

  it("have a schema for editors, and a stack file over one may leave out what it has", () => {
    const ajv = new Ajv({ allowUnionTypes: true });
    const layer = ajv.compile(layerJsonSchema());
    assert.equal(layer({ config: { "foresail:cluster": SHARED } }), true, JSON.stringify(layer.errors));
    assert.equal(layer({ config: { "foresail:cluster": { versoin: "1.36.3" } } }), false);
    assert.equal(layer({ config: { "foresail:sshPrivateKey": "x" } }), false);
    const stack = ajv.compile(stackFileJsonSchema());
    const over = { "foresail:cluster": { name, network: null } };
    assert.equal(
      stack({ config: { "foresail:layer": "prod", ...over } }),
      true,
      JSON.stringify(stack.errors),
    );
    assert.equal(stack({ config: over }), false);
    const below = { "foresail:layer": "prod", ...over };
    const engines = { secretsprovider: "passphrase", encryptionsalt: "v1:a" };
    assert.equal(
      stack({ ...engines, config: { ...below, "aws:region": "x" } }),
      true,
      JSON.stringify(stack.errors),
    );
    for (const misspelt of ["foresail:clutser", "foresail:sshPrivatKey", "foresail:layers"])
      assert.equal(stack({ config: { ...below, [misspelt]: "x" } }), false, misspelt);
    assert.equal(stack({ confg: over, config: below }), false);
  });
});
