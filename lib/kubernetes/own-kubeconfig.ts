import { messageOf } from "../error-message";
import { impersonationHeaders } from "./impersonation";
import { type Context, readContexts } from "./kubeconfig-contexts";
import { loginIssue } from "./login-program";
import { proxyIssue } from "./proxy";

/**
 * Returns why a context of the operator's own kubeconfig can't be used as it is written: no field that decides how a
 * cluster is reached, or as whom, is left out. The message begins with the field's path and has no value.
 */
export function ownContextIssue(context: Context): string | undefined {
  const { cluster, paths } = context;
  const { "tls-server-name": name } = cluster;
  if (name !== undefined && name !== null && typeof name !== "string")
    return `${paths.cluster}.tls-server-name is not a text; correct it`;
  return loginIssue(context) ?? proxyIssue(context) ?? impersonationIssue(context);
}

function impersonationIssue(context: Context): string | undefined {
  try {
    impersonationHeaders(context);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Returns the issue of the contexts of a kubeconfig; undefined also for a text that is not a kubeconfig. */
export function ownKubeconfigIssue(text: string): string | undefined {
  let contexts: Context[];
  try {
    contexts = readContexts(text);
  } catch {
    return undefined;
  }
  return contexts.map(ownContextIssue).find((issue) => issue !== undefined);
}
