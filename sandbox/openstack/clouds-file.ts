import { stringify } from "yaml";
import { internalUrl, publicUrl, REGION } from "./configuration/common";
import { administratorLogin, CLOUD_NAMES, userLogin } from "./seed";
import type { CloudSettings } from "./settings";

/**
 * Returns the text of clouds.yaml: the project with an application credential, and the administrator.
 * @param credential the id of the application credential; absent before it is created
 */
export function renderCloudsFile(settings: CloudSettings, credential: string | undefined): string {
  const common = { region_name: REGION, identity_api_version: 3 };
  return stringify({
    clouds: {
      ...(credential === undefined
        ? {}
        : {
            [CLOUD_NAMES.cloud]: {
              auth_type: "v3applicationcredential",
              auth: {
                auth_url: `${publicUrl(settings, "keystone")}/v3`,
                application_credential_id: credential,
                application_credential_secret: settings.passwords.credential,
              },
              ...common,
            },
          }),
      [CLOUD_NAMES.user]: { auth: userLogin(settings, publicUrl(settings, "keystone")), ...common },
      [CLOUD_NAMES.administrator]: {
        auth: administratorLogin(settings, publicUrl(settings, "keystone")),
        ...common,
      },
      // for the cloud's own processes, which faults must not affect
      [CLOUD_NAMES.internal]: {
        auth: administratorLogin(settings, internalUrl(settings, "keystone")),
        ...common,
        interface: "internal",
      },
    },
  });
}
