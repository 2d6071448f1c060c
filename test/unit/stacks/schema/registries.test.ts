import assert from "node:assert/strict";
import { loadConfiguration } from "../../../../stacks/schema";
import { refuses, issuesOf } from "./issues";
import { cluster, reader } from "./valid";

const MIRROR = "https://m.example.com";

const registries = (fields: object) => cluster({ registries: fields });
/** A mirror of docker.io with settings. */
const mirror = (host: object, url = MIRROR) =>
  registries({ mirrors: { "docker.io": [MIRROR] }, hosts: { [url]: host } });

const AT = 'cluster.registries.hosts["https://m.example.com"]';
const SECRET =
  "is for a secret, which would be stored and shown in plain text; write user and password to the secret foresail:registryCredentials";

refuses({
  "settings of mirrors that containerd would ignore or not take": [
    [`${AT}.skip_verify: is not known; did you mean "skipVerify"?`, mirror({ skip_verify: true })],
    [
      `${AT}.capabilities[0]: is the text "pul"; write one of "pull", "resolve", "push"`,
      mirror({ capabilities: ["pul"] }),
    ],
    [`${AT}.ca[0]: "m.crt" is not absolute; start it with "/"`, mirror({ ca: ["m.crt"] })],
    [`${AT}.header.Authorization: "Authorization" ${SECRET}`, mirror({ header: { Authorization: "x" } })],
    [
      `${AT}.header["X Y"]: "X Y" is not the name of a header; write e.g. "X-Site"`,
      mirror({ header: { "X Y": "x" } }),
    ],
    [
      'cluster.registries.hosts["https://m.example.com/"]: is not a URL of mirrors or servers, which has https://m.example.com, https://registry-1.docker.io; write it there, too, in the same spelling',
      mirror({ skipVerify: true }, `${MIRROR}/`),
    ],
    [
      'cluster.registries.mirrors["Docker.io"]: "Docker.io" has upper-case letters, which the host of an image never has; write "docker.io"',
      registries({ mirrors: { "Docker.io": [MIRROR] } }),
    ],
    [
      'cluster.registries.mirrors["hub.docker.com"]: is a web site and not a registry; write "docker.io"',
      registries({ mirrors: { "hub.docker.com": [MIRROR] } }),
    ],
    [
      'cluster.registries.mirrors["*"]: is not a host; write "_default" for all registries without an entry of their own',
      registries({ mirrors: { "*": [MIRROR] } }),
    ],
    [
      'cluster.registries.mirrors["index.docker.io"]: is docker.io for containerd, which reads no file for "index.docker.io"; write "docker.io"',
      registries({ mirrors: { "index.docker.io": [MIRROR] } }),
    ],
    [
      'cluster.registries.mirrors["docker.io"][0]: "https://m.example.com/?a=b" has a part after its path, which containerd leaves out; remove it',
      registries({ mirrors: { "docker.io": [`${MIRROR}/?a=b`] } }),
    ],
    [
      'cluster.registries.servers["ghcr.io"]: "ghcr.example.com" is not a URL; write e.g. "https://host.example.com/path"',
      registries({ servers: { "ghcr.io": "ghcr.example.com" } }),
    ],
  ],
});

describe("configuration: registries", () => {
  it("may have a server without mirrors, and settings for each mirror, server and the registry itself", () => {
    const own = "http://r.example.com:5000";
    const fields = {
      mirrors: { "docker.io": [MIRROR] },
      servers: { "r.example.com:5000": own },
      hosts: {
        [own]: { skipVerify: false },
        [MIRROR]: { overridePath: true, header: { "X-Site": "" } },
        "https://registry-1.docker.io": { ca: ["/etc/ssl/a.crt"] },
      },
    };
    assert.deepEqual(issuesOf(reader(registries(fields))), []);
    const read = loadConfiguration(reader(registries(fields)));
    assert.ok(read.system === "ssh");
    assert.deepEqual(read.cluster.registries, fields);
  });
});
