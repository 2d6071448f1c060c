#!/usr/bin/env bash
# Ends with an error where the command $COMMAND of the action could run other code than main's: a preview for an event that takes
# the workflow from the pull request's branch, or of a fork ($HEAD_REPOSITORY), and an apply on another branch than main.
set -euo pipefail

refuse() {
  echo "::error::$1"
  exit 1
}
case ${COMMAND:?COMMAND says what to do} in
  preview)
    [[ $GITHUB_EVENT_NAME == pull_request_target ]] ||
      refuse "A preview is for the event pull_request_target, whose workflow is main's; this is $GITHUB_EVENT_NAME."
    [[ ${HEAD_REPOSITORY:-} == "$GITHUB_REPOSITORY" ]] ||
      refuse "The pull request comes from another repository: its stack files get no secrets."
    ;;
  apply)
    [[ $GITHUB_REF == refs/heads/main ]] || refuse "Only main is applied; this is $GITHUB_REF."
    ;;
  *) refuse "The input command is preview or apply." ;;
esac
