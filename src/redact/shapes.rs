//! The shapes of tokens and keys, as those who issue them publish them.
//!
//! The facts (what a token begins with, of which characters it is, and how long) are those of the rules of gitleaks,
//! <https://github.com/gitleaks/gitleaks>, `config/gitleaks.toml` at commit 009e025ad4106ab333aa0b9dc4f2a884390d134c, MIT
//! licence; a few newer ones are those of their issuers' documents. The table, its form and its kinds are ours. A length is the least that a token has; most are taken to be longer
//! if more characters follow, since issuers lengthen their tokens.

use super::text::{self, Class};

/// A piece of a token: a text as it is, or a run of characters of a class, of a least and a most length.
#[derive(Debug, Clone, Copy)]
pub(super) enum Piece {
    Is(&'static str),
    Run(Class, usize, usize),
}

use Class::{
    Alphanumeric, AnyBase64, Base32, Base64, Digit, Dotted, Hex, Hyphened, Lower, Unreserved,
    Upper, Word,
};
use Piece::{Is, Run};

/// A kind of token: the text that it begins with, and what follows.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) kind: &'static str,
    pub(super) begins: &'static str,
    follows: &'static [Piece],
}

const fn shape(kind: &'static str, begins: &'static str, follows: &'static [Piece]) -> Shape {
    Shape { kind, begins, follows }
}

/// A token that is longer than its least length.
const LONG: usize = 512;

/// Fewer different characters are in a stand-in, such as a row of x.
const LEAST_DIFFERENT: usize = 5;

#[rustfmt::skip]
pub(super) const SHAPES: &[Shape] = &[
    shape("1password-key", "A3-", &[Run(Upper, 6, 6), Is("-"), Run(Upper, 6, 11), Is("-"), Run(Upper, 5, 5), Is("-"), Run(Upper, 5, 5), Is("-"), Run(Upper, 5, 5)]),
    shape("1password-token", "ops_eyJ", &[Run(Base64, 200, 4096)]),
    shape("adobe-secret", "p8e-", &[Run(Alphanumeric, 32, 32)]),
    shape("age-key", "AGE-SECRET-KEY-1", &[Run(Upper, 58, 58)]),
    shape("airtable-token", "pat", &[Run(Alphanumeric, 14, 14), Is("."), Run(Hex, 64, 64)]),
    shape("alibaba-key", "LTAI", &[Run(Alphanumeric, 20, 20)]),
    shape("anthropic-key", "sk-ant-", &[Run(Hyphened, 20, LONG)]),
    shape("artifactory-key", "AKCp", &[Run(Alphanumeric, 69, 69)]),
    shape("artifactory-token", "cmVmd", &[Run(Alphanumeric, 59, 59)]),
    shape("atlassian-token", "ATATT3", &[Run(Dotted, 180, LONG)]),
    shape("aws-key", "AKIA", &[Run(Base32, 16, 16)]),
    shape("aws-key", "ASIA", &[Run(Base32, 16, 16)]),
    shape("aws-key", "ABIA", &[Run(Base32, 16, 16)]),
    shape("aws-key", "ACCA", &[Run(Base32, 16, 16)]),
    shape("aws-bedrock-key", "ABSK", &[Run(Base64, 109, 269)]),
    shape("clickhouse-key", "4b1d", &[Run(Alphanumeric, 38, 38)]),
    shape("clojars-token", "CLOJARS_", &[Run(Alphanumeric, 60, 60)]),
    shape("cloudflare-key", "v1.0-", &[Run(Hex, 24, 24), Is("-"), Run(Hex, 146, 146)]),
    shape("databricks-token", "dapi", &[Run(Hex, 32, 32)]),
    shape("dnkey", "dnkey-", &[Run(Hyphened, 70, LONG)]),
    shape("digitalocean-token", "doo_v1_", &[Run(Hex, 64, 64)]),
    shape("digitalocean-token", "dop_v1_", &[Run(Hex, 64, 64)]),
    shape("digitalocean-token", "dor_v1_", &[Run(Hex, 64, 64)]),
    shape("docker-token", "dckr_pat_", &[Run(Hyphened, 27, LONG)]),
    shape("docker-token", "dckr_oat_", &[Run(Hyphened, 27, LONG)]),
    shape("doppler-token", "dp.pt.", &[Run(Alphanumeric, 43, LONG)]),
    shape("duffel-token", "duffel_live_", &[Run(Dotted, 43, LONG)]),
    shape("duffel-token", "duffel_test_", &[Run(Dotted, 43, LONG)]),
    shape("dynatrace-token", "dt0c01.", &[Run(Alphanumeric, 24, 24), Is("."), Run(Alphanumeric, 64, 64)]),
    shape("easypost-token", "EZAK", &[Run(Alphanumeric, 54, 54)]),
    shape("easypost-token", "EZTK", &[Run(Alphanumeric, 54, 54)]),
    shape("facebook-token", "EAAM", &[Run(Alphanumeric, 100, LONG)]),
    shape("facebook-token", "EAAC", &[Run(Alphanumeric, 100, LONG)]),
    shape("figma-token", "figd_", &[Run(Hyphened, 40, LONG)]),
    shape("flutterwave-key", "FLWSECK_TEST-", &[Run(Alphanumeric, 12, LONG)]),
    shape("flyio-token", "fo1_", &[Run(Hyphened, 43, LONG)]),
    shape("flyio-token", "fm1a_", &[Run(Base64, 100, 4096)]),
    shape("flyio-token", "fm1r_", &[Run(Base64, 100, 4096)]),
    shape("flyio-token", "fm2_", &[Run(Base64, 100, 4096)]),
    shape("frameio-token", "fio-u-", &[Run(Dotted, 64, 64)]),
    shape("google-key", "AIza", &[Run(Hyphened, 35, 35)]),
    shape("google-token", "1//0", &[Run(Hyphened, 40, LONG)]),
    shape("google-token", "ya29.", &[Run(Hyphened, 20, LONG)]),
    shape("google-secret", "GOCSPX-", &[Run(Hyphened, 28, 28)]),
    shape("github-token", "ghp_", &[Run(Alphanumeric, 36, 255)]),
    shape("github-token", "gho_", &[Run(Alphanumeric, 36, 255)]),
    shape("github-token", "ghu_", &[Run(Alphanumeric, 36, 255)]),
    shape("github-token", "ghs_", &[Run(Alphanumeric, 36, 255)]),
    shape("github-token", "ghr_", &[Run(Alphanumeric, 36, 255)]),
    shape("github-token", "github_pat_", &[Run(Word, 82, 255)]),
    shape("gitlab-token", "glcbt-", &[Run(Hyphened, 22, LONG)]),
    shape("gitlab-token", "gldt-", &[Run(Hyphened, 20, LONG)]),
    shape("gitlab-token", "glffct-", &[Run(Hyphened, 20, LONG)]),
    shape("gitlab-token", "glft-", &[Run(Hyphened, 20, LONG)]),
    shape("gitlab-token", "glimt-", &[Run(Hyphened, 25, LONG)]),
    shape("gitlab-token", "glagent-", &[Run(Hyphened, 50, LONG)]),
    shape("gitlab-token", "gloas-", &[Run(Hyphened, 64, LONG)]),
    shape("gitlab-token", "glpat-", &[Run(Dotted, 20, LONG)]),
    shape("gitlab-token", "glptt-", &[Run(Hex, 40, 40)]),
    shape("gitlab-token", "GR1348941", &[Run(Hyphened, 20, LONG)]),
    shape("gitlab-token", "glrt-", &[Run(Dotted, 20, LONG)]),
    shape("gitlab-token", "glsoat-", &[Run(Hyphened, 20, LONG)]),
    shape("gitlab-token", "_gitlab_session=", &[Run(Alphanumeric, 32, 32)]),
    shape("grafana-token", "eyJrIjoi", &[Run(Base64, 70, LONG)]),
    shape("grafana-token", "glc_", &[Run(Base64, 32, LONG)]),
    shape("grafana-token", "glsa_", &[Run(Alphanumeric, 32, 32), Is("_"), Run(Hex, 8, 8)]),
    shape("groq-key", "gsk_", &[Run(Alphanumeric, 52, LONG)]),
    shape("harness-token", "pat.", &[Run(Hyphened, 22, 22), Is("."), Run(Alphanumeric, 24, 24), Is("."), Run(Alphanumeric, 20, 20)]),
    shape("harness-token", "sat.", &[Run(Hyphened, 22, 22), Is("."), Run(Alphanumeric, 24, 24), Is("."), Run(Alphanumeric, 20, 20)]),
    shape("heroku-key", "HRKU-AA", &[Run(Hyphened, 58, 58)]),
    shape("huggingface-token", "hf_", &[Run(Alphanumeric, 34, LONG)]),
    shape("huggingface-token", "api_org_", &[Run(Alphanumeric, 34, LONG)]),
    shape("infracost-token", "ico-", &[Run(Alphanumeric, 32, 32)]),
    shape("intra42-secret", "s-s4t2ud-", &[Run(Hex, 64, 64)]),
    shape("intra42-secret", "s-s4t2af-", &[Run(Hex, 64, 64)]),
    shape("jwt", "eyJ", &[Run(Hyphened, 14, 4096), Is(".ey"), Run(Hyphened, 15, 16384), Is("."), Run(Hyphened, 10, 4096)]),
    shape("jwt", "ZXlK", &[Run(AnyBase64, 80, 32768)]),
    shape("langsmith-key", "lsv2_pt_", &[Run(Hex, 32, 32), Is("_"), Run(Hex, 10, 10)]),
    shape("langsmith-key", "lsv2_sk_", &[Run(Hex, 32, 32), Is("_"), Run(Hex, 10, 10)]),
    shape("linear-key", "lin_api_", &[Run(Alphanumeric, 40, LONG)]),
    shape("newrelic-key", "NRAK-", &[Run(Alphanumeric, 27, 27)]),
    shape("newrelic-key", "NRII-", &[Run(Hyphened, 32, 32)]),
    shape("newrelic-key", "NRJS-", &[Run(Hex, 19, 19)]),
    shape("notion-token", "ntn_", &[Run(Alphanumeric, 46, LONG)]),
    shape("npm-token", "npm_", &[Run(Alphanumeric, 36, LONG)]),
    shape("octopus-key", "API-", &[Run(Upper, 26, 26)]),
    shape("openai-key", "sk-proj-", &[Run(Hyphened, 40, LONG)]),
    shape("openai-key", "sk-svcacct-", &[Run(Hyphened, 40, LONG)]),
    shape("openai-key", "sk-admin-", &[Run(Hyphened, 40, LONG)]),
    shape("openai-key", "sk-or-v1-", &[Run(Hex, 64, 64)]),
    shape("openai-key", "sk-", &[Run(Alphanumeric, 32, 128)]),
    shape("openshift-token", "sha256~", &[Run(Hyphened, 43, 43)]),
    shape("perplexity-key", "pplx-", &[Run(Alphanumeric, 48, LONG)]),
    shape("planetscale-token", "pscale_tkn_", &[Run(Dotted, 32, LONG)]),
    shape("planetscale-token", "pscale_oauth_", &[Run(Dotted, 32, LONG)]),
    shape("planetscale-token", "pscale_pw_", &[Run(Dotted, 32, LONG)]),
    shape("postman-token", "PMAK-", &[Run(Hex, 24, 24), Is("-"), Run(Hex, 34, 34)]),
    shape("prefect-token", "pnu_", &[Run(Alphanumeric, 36, LONG)]),
    shape("pulumi-token", "pul-", &[Run(Hex, 40, 40)]),
    shape("pypi-token", "pypi-AgEIcHlwaS5vcmc", &[Run(Hyphened, 50, 1000)]),
    shape("readme-token", "rdme_", &[Run(Alphanumeric, 70, LONG)]),
    shape("replicate-token", "r8_", &[Run(Alphanumeric, 37, 37)]),
    shape("rubygems-token", "rubygems_", &[Run(Hex, 48, 48)]),
    shape("scalingo-token", "tk-us-", &[Run(Hyphened, 48, LONG)]),
    shape("sendgrid-token", "SG.", &[Run(Dotted, 66, LONG)]),
    shape("sendinblue-token", "xkeysib-", &[Run(Hex, 64, 64), Is("-"), Run(Alphanumeric, 16, 16)]),
    shape("sentry-token", "sntrys_eyJ", &[Run(Base64, 30, LONG), Is("_"), Run(Base64, 43, 43)]),
    shape("sentry-token", "sntryu_", &[Run(Hex, 64, 64)]),
    shape("settlemint-token", "sm_aat_", &[Run(Alphanumeric, 16, LONG)]),
    shape("settlemint-token", "sm_pat_", &[Run(Alphanumeric, 16, LONG)]),
    shape("settlemint-token", "sm_sat_", &[Run(Alphanumeric, 16, LONG)]),
    shape("shippo-token", "shippo_live_", &[Run(Hex, 40, 40)]),
    shape("shippo-token", "shippo_test_", &[Run(Hex, 40, 40)]),
    shape("shopify-token", "shpat_", &[Run(Hex, 32, 32)]),
    shape("shopify-token", "shpca_", &[Run(Hex, 32, 32)]),
    shape("shopify-token", "shppa_", &[Run(Hex, 32, 32)]),
    shape("shopify-token", "shpss_", &[Run(Hex, 32, 32)]),
    shape("slack-token", "xapp-", &[Run(Hyphened, 20, LONG)]),
    shape("slack-token", "xoxa-", &[Run(Hyphened, 10, LONG)]),
    shape("slack-token", "xoxb-", &[Run(Hyphened, 20, LONG)]),
    shape("slack-token", "xoxe-", &[Run(Hyphened, 20, LONG)]),
    shape("slack-token", "xoxe.xox", &[Run(Hyphened, 20, LONG)]),
    shape("slack-token", "xoxo-", &[Run(Hyphened, 20, LONG)]),
    shape("slack-token", "xoxp-", &[Run(Hyphened, 20, LONG)]),
    shape("slack-token", "xoxr-", &[Run(Hyphened, 10, LONG)]),
    shape("slack-token", "xoxs-", &[Run(Hyphened, 20, LONG)]),
    shape("slack-webhook", "hooks.slack.com/services/", &[Run(Base64, 40, 64)]),
    shape("slack-webhook", "hooks.slack.com/workflows/", &[Run(Base64, 40, 64)]),
    shape("slack-webhook", "hooks.slack.com/triggers/", &[Run(Base64, 40, 64)]),
    shape("sonar-token", "squ_", &[Run(Hex, 40, 40)]),
    shape("sonar-token", "sqp_", &[Run(Hex, 40, 40)]),
    shape("sonar-token", "sqa_", &[Run(Hex, 40, 40)]),
    shape("sourcegraph-token", "sgp_", &[Run(Word, 40, LONG)]),
    shape("square-token", "sq0atp-", &[Run(Hyphened, 22, LONG)]),
    shape("square-token", "sq0csp-", &[Run(Hyphened, 43, LONG)]),
    shape("square-token", "EAAA", &[Run(Hyphened, 60, 60)]),
    shape("stripe-key", "sk_live_", &[Run(Alphanumeric, 10, LONG)]),
    shape("stripe-key", "sk_test_", &[Run(Alphanumeric, 10, LONG)]),
    shape("stripe-key", "sk_prod_", &[Run(Alphanumeric, 10, LONG)]),
    shape("stripe-key", "rk_live_", &[Run(Alphanumeric, 10, LONG)]),
    shape("stripe-key", "rk_test_", &[Run(Alphanumeric, 10, LONG)]),
    shape("stripe-key", "rk_prod_", &[Run(Alphanumeric, 10, LONG)]),
    shape("stripe-key", "whsec_", &[Run(Base64, 24, LONG)]),
    shape("supabase-token", "sbp_", &[Run(Hex, 40, 40)]),
    shape("supabase-key", "sb_secret_", &[Run(Hyphened, 30, LONG)]),
    shape("tailscale-key", "tskey-", &[Run(Hyphened, 24, LONG)]),
    shape("teams-webhook", ".webhook.office.com/webhookb2/", &[Run(Hyphened, 36, 36), Is("@"), Run(Hyphened, 36, 36), Is("/IncomingWebhook/"), Run(Hyphened, 32, 32), Is("/"), Run(Hyphened, 36, 36)]),
    shape("twilio-key", "SK", &[Run(Hex, 32, 32)]),
    shape("typeform-token", "tfp_", &[Run(Dotted, 59, 59)]),
    shape("vault-token", "hvs.", &[Run(Hyphened, 90, LONG)]),
    shape("vault-token", "hvb.", &[Run(Hyphened, 138, LONG)]),
    shape("xai-key", "xai-", &[Run(Alphanumeric, 70, LONG)]),
    shape("yandex-key", "AQVN", &[Run(Hyphened, 35, 38)]),
];

/// A kind of token that has its own text in the middle: what may be before and behind it.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) kind: &'static str,
    pub(super) has: &'static str,
    before: (Class, usize),
    follows: &'static [Piece],
}

#[rustfmt::skip]
pub(super) const INNERS: &[Inner] = &[
    Inner { kind: "authress-key", has: ".acc_", before: (Dotted, 12), follows: &[Run(Hyphened, 10, 32), Is("."), Run(AnyBase64, 30, 120)] },
    Inner { kind: "authress-key", has: ".acc-", before: (Dotted, 12), follows: &[Run(Hyphened, 10, 32), Is("."), Run(AnyBase64, 30, 120)] },
    Inner { kind: "azure-secret", has: "Q~", before: (Unreserved, 4), follows: &[Run(Unreserved, 31, 34)] },
    Inner { kind: "maxmind-key", has: "_mmk", before: (Word, 36), follows: &[] },
    Inner { kind: "telegram-token", has: ":AA", before: (Digit, 8), follows: &[Run(Hyphened, 32, 33)] },
    Inner { kind: "terraform-token", has: ".atlasv1.", before: (Alphanumeric, 14), follows: &[Run(Dotted, 60, 70)] },
];

/// The tokens of a service that have no beginning of their own: they count where the service's name is before them, as in
/// `DATADOG_API_KEY=`.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) kind: &'static str,
    pub(super) name: &'static str,
    values: &'static [&'static [Piece]],
}

const fn service(
    kind: &'static str,
    name: &'static str,
    values: &'static [&'static [Piece]],
) -> Service {
    Service { kind, name, values }
}

#[rustfmt::skip]
const UUID: &[Piece] = &[Run(Hex, 8, 8), Is("-"), Run(Hex, 4, 4), Is("-"), Run(Hex, 4, 4), Is("-"), Run(Hex, 4, 4), Is("-"), Run(Hex, 12, 12)];

#[rustfmt::skip]
pub(super) const SERVICES: &[Service] = &[
    service("adafruit-key", "adafruit", &[&[Run(Hyphened, 32, 32)]]),
    service("adobe-id", "adobe", &[&[Run(Hex, 32, 32)]]),
    service("airtable-token", "airtable", &[&[Run(Alphanumeric, 17, 17)]]),
    service("algolia-key", "algolia", &[&[Run(Lower, 32, 32)]]),
    service("alibaba-key", "alibaba", &[&[Run(Alphanumeric, 30, 30)]]),
    service("asana-secret", "asana", &[&[Run(Lower, 32, 32)], &[Run(Digit, 16, 16)]]),
    service("atlassian-token", "atlassian", &[&[Run(Lower, 24, 24)]]),
    service("atlassian-token", "confluence", &[&[Run(Lower, 24, 24)]]),
    service("atlassian-token", "jira", &[&[Run(Lower, 24, 24)]]),
    service("beamer-token", "beamer", &[&[Is("b_"), Run(Dotted, 44, 44)]]),
    service("bitbucket-secret", "bitbucket", &[&[Run(Lower, 32, 32)], &[Run(Dotted, 64, 64)]]),
    service("bittrex-key", "bittrex", &[&[Run(Lower, 32, 32)]]),
    service("cloudflare-key", "cloudflare", &[&[Run(Hyphened, 40, 40)], &[Run(Hex, 37, 37)]]),
    service("codecov-token", "codecov", &[&[Run(Lower, 32, 32)]]),
    service("cohere-token", "cohere", &[&[Run(Alphanumeric, 40, 40)]]),
    service("coinbase-token", "coinbase", &[&[Run(Hyphened, 64, 64)]]),
    service("confluent-key", "confluent", &[&[Run(Alphanumeric, 64, 64)], &[Run(Alphanumeric, 16, 16)]]),
    service("contentful-token", "contentful", &[&[Run(Dotted, 43, 43)]]),
    service("datadog-token", "datadog", &[&[Run(Alphanumeric, 40, 40)], &[Run(Hex, 32, 32)]]),
    service("discord-token", "discord", &[&[Run(Hex, 64, 64)], &[Run(Dotted, 32, 32)], &[Run(Hyphened, 24, 28), Is("."), Run(Hyphened, 6, 6), Is("."), Run(Hyphened, 27, 40)]]),
    service("droneci-token", "droneci", &[&[Run(Lower, 32, 32)]]),
    service("dropbox-token", "dropbox", &[&[Run(Lower, 15, 15)], &[Is("sl."), Run(Dotted, 130, 1500)], &[Run(Dotted, 64, 64)]]),
    service("etsy-token", "etsy", &[&[Run(Lower, 24, 24)]]),
    service("facebook-secret", "facebook", &[&[Run(Hex, 32, 32)], &[Run(Digit, 15, 16), Is("|"), Run(Hyphened, 27, 40)]]),
    service("fastly-token", "fastly", &[&[Run(Hyphened, 32, 32)]]),
    service("finicity-key", "finicity", &[&[Run(Hex, 32, 32)], &[Run(Lower, 20, 20)]]),
    service("finnhub-token", "finnhub", &[&[Run(Lower, 20, 20)]]),
    service("flickr-token", "flickr", &[&[Run(Lower, 32, 32)]]),
    service("freshbooks-token", "freshbooks", &[&[Run(Lower, 64, 64)]]),
    service("gitter-token", "gitter", &[&[Run(Hyphened, 40, 40)]]),
    service("gocardless-token", "gocardless", &[&[Is("live_"), Run(Dotted, 40, 40)]]),
    service("heroku-key", "heroku", &[UUID]),
    service("hubspot-key", "hubspot", &[UUID]),
    service("intercom-key", "intercom", &[&[Run(Dotted, 60, 60)]]),
    service("jfrog-token", "jfrog", &[&[Run(Lower, 64, 64)], &[Run(Lower, 73, 73)]]),
    service("jfrog-token", "artifactory", &[&[Run(Lower, 64, 64)], &[Run(Lower, 73, 73)]]),
    service("jfrog-token", "bintray", &[&[Run(Lower, 64, 64)], &[Run(Lower, 73, 73)]]),
    service("jfrog-token", "xray", &[&[Run(Lower, 64, 64)], &[Run(Lower, 73, 73)]]),
    service("kraken-key", "kraken", &[&[Run(Base64, 80, 90)]]),
    service("kucoin-key", "kucoin", &[&[Run(Hex, 24, 24)], UUID]),
    service("launchdarkly-token", "launchdarkly", &[&[Run(Dotted, 40, 40)]]),
    service("linear-key", "linear", &[&[Run(Hex, 32, 32)]]),
    service("linkedin-secret", "linkedin", &[&[Run(Alphanumeric, 16, 16)]]),
    service("linkedin-secret", "linked_in", &[&[Run(Alphanumeric, 16, 16)]]),
    service("linkedin-secret", "linked-in", &[&[Run(Alphanumeric, 16, 16)]]),
    service("lob-key", "lob", &[&[Is("live_"), Run(Hex, 35, 35)], &[Is("test_"), Run(Hex, 35, 35)]]),
    service("looker-key", "looker", &[&[Run(Lower, 24, 24)], &[Run(Lower, 20, 20)]]),
    service("mailchimp-key", "mailchimp", &[&[Run(Hex, 32, 32), Is("-us"), Run(Digit, 1, 2)]]),
    service("mailgun-key", "mailgun", &[&[Is("key-"), Run(Hex, 32, 32)], &[Run(Hex, 32, 32), Is("-"), Run(Hex, 8, 8), Is("-"), Run(Hex, 8, 8)]]),
    service("mapbox-token", "mapbox", &[&[Is("sk."), Run(Hyphened, 60, 120), Is("."), Run(Hyphened, 22, 22)], &[Is("pk."), Run(Hyphened, 60, 120), Is("."), Run(Hyphened, 22, 22)]]),
    service("mattermost-token", "mattermost", &[&[Run(Lower, 26, 26)]]),
    service("meraki-key", "meraki", &[&[Run(Hex, 40, 40)]]),
    service("messagebird-token", "messagebird", &[&[Run(Alphanumeric, 25, 25)], UUID]),
    service("messagebird-token", "message_bird", &[&[Run(Alphanumeric, 25, 25)], UUID]),
    service("messagebird-token", "message-bird", &[&[Run(Alphanumeric, 25, 25)], UUID]),
    service("netlify-token", "netlify", &[&[Run(Hyphened, 40, 46)]]),
    service("newrelic-key", "newrelic", &[&[Run(Lower, 64, 64)]]),
    service("newrelic-key", "new_relic", &[&[Run(Lower, 64, 64)]]),
    service("newrelic-key", "new-relic", &[&[Run(Lower, 64, 64)]]),
    service("nytimes-token", "nytimes", &[&[Run(Hyphened, 32, 32)]]),
    service("nytimes-token", "newyorktimes", &[&[Run(Hyphened, 32, 32)]]),
    service("okta-token", "okta", &[&[Is("00"), Run(Dotted, 40, 40)]]),
    service("plaid-key", "plaid", &[&[Is("access-sandbox-"), Run(Hyphened, 36, 36)], &[Is("access-development-"), Run(Hyphened, 36, 36)], &[Is("access-production-"), Run(Hyphened, 36, 36)], &[Run(Lower, 30, 30)], &[Run(Lower, 24, 24)]]),
    service("privateai-token", "privateai", &[&[Run(Lower, 32, 32)]]),
    service("privateai-token", "private_ai", &[&[Run(Lower, 32, 32)]]),
    service("privateai-token", "private-ai", &[&[Run(Lower, 32, 32)]]),
    service("rapidapi-token", "rapidapi", &[&[Run(Hyphened, 50, 50)]]),
    service("sendbird-token", "sendbird", &[&[Run(Hex, 40, 40)], UUID]),
    service("sentry-token", "sentry", &[&[Run(Hex, 64, 64)]]),
    service("sidekiq-secret", "contribsys__com", &[&[Run(Hex, 8, 8), Is(":"), Run(Hex, 8, 8)]]),
    service("snyk-token", "snyk", &[UUID]),
    service("sonar-token", "sonar", &[&[Run(Dotted, 40, 40)]]),
    service("sourcegraph-token", "sourcegraph", &[&[Run(Hex, 40, 40)]]),
    service("squarespace-token", "squarespace", &[UUID]),
    service("sumologic-key", "sumo", &[&[Run(Alphanumeric, 64, 64)], &[Is("su"), Run(Alphanumeric, 12, 12)]]),
    service("telegram-token", "telegr", &[&[Run(Digit, 5, 16), Is(":A"), Run(Hyphened, 34, 34)]]),
    service("travisci-token", "travis", &[&[Run(Alphanumeric, 22, 22)]]),
    service("trello-token", "trello", &[&[Run(Hyphened, 32, 32)], &[Run(Hex, 64, 64)]]),
    service("twilio-key", "twilio", &[&[Run(Hex, 32, 32)]]),
    service("twitch-token", "twitch", &[&[Run(Lower, 30, 30)]]),
    service("twitter-token", "twitter", &[&[Run(Alphanumeric, 25, 25)], &[Run(Digit, 15, 25), Is("-"), Run(Alphanumeric, 20, 40)], &[Run(Alphanumeric, 35, 50)], &[Is("AAAAAAAAAAAAAAAAAAAAAA"), Run(Dotted, 80, 100)]]),
    service("vault-token", "vault", &[&[Is("s."), Run(Alphanumeric, 24, 24)]]),
    service("yandex-token", "yandex", &[&[Is("t1."), Run(Hyphened, 8, LONG), Is("."), Run(Hyphened, 86, 86)], &[Is("YC"), Run(Hyphened, 38, 38)]]),
    service("zendesk-key", "zendesk", &[&[Run(Lower, 40, 40)]]),
];

impl Shape {
    /// The end of the token that begins at a place, where its beginning stands.
    pub(super) fn end(&self, text: &[u8], start: usize) -> Option<usize> {
        if !text::begins_a_word(text, start) && self.begins.as_bytes().first() != Some(&b'.') {
            return None;
        }
        let from = start + self.begins.len();
        (text.get(start..from) == Some(self.begins.as_bytes())).then_some(())?;
        let end = end_of(self.follows, text, from)?;
        (!is_stand_in(text.get(from..end)?)).then_some(end)
    }

    /// The shortest token of the shape, with the characters that `character` gives: for tests.
    #[cfg(test)]
    pub(super) fn example(&self, character: impl FnMut(&[u8]) -> u8) -> String {
        format!("{}{}", self.begins, example(self.follows, character))
    }
}

impl Inner {
    /// Where the token is that has its text at a place.
    pub(super) fn place(&self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        let (class, least) = self.before;
        let before = text.get(..at)?.iter().rev().take_while(|byte| class.has(**byte)).count();
        let start = at - before.min(least);
        if before < least || self.before.1 == before && !text::begins_a_word(text, start) {
            return None;
        }
        let end = end_of(self.follows, text, at + self.has.len())?;
        let is_same = text.get(at..at + self.has.len()) == Some(self.has.as_bytes());
        (is_same && !is_stand_in(text.get(start..end)?)).then_some((at - before, end))
    }

    #[cfg(test)]
    pub(super) fn example(&self, mut character: impl FnMut(&[u8]) -> u8) -> String {
        let before = example(&[Run(self.before.0, self.before.1, 0)], &mut character);
        format!("{before}{}{}", self.has, example(self.follows, character))
    }
}

impl Service {
    /// Whether a value that stands behind the service's name is a token of it.
    pub(super) fn has(&self, value: &[u8]) -> bool {
        let is_whole = |pieces: &[Piece]| end_of(pieces, value, 0) == Some(value.len());
        self.values.iter().any(|pieces| is_whole(pieces))
            && value.iter().any(u8::is_ascii_digit)
            && !is_stand_in(value)
    }

    #[cfg(test)]
    pub(super) fn examples(&self, mut character: impl FnMut(&[u8]) -> u8) -> Vec<String> {
        self.values.iter().map(|pieces| example(pieces, &mut character)).collect()
    }
}

/// The end of what has these pieces, if nothing that could belong to it follows.
fn end_of(pieces: &[Piece], text: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    for piece in pieces {
        let rest = text.get(at..)?;
        at += match piece {
            Is(literal) => rest.starts_with(literal.as_bytes()).then_some(literal.len())?,
            Run(class, least, most) => {
                let run = rest.iter().take(*most).take_while(|byte| class.has(**byte)).count();
                (run >= *least).then_some(run)?
            }
        };
    }
    // Padding of base64.
    at += text.get(at..)?.iter().take(3).take_while(|byte| **byte == b'=').count();
    (!text.get(at).is_some_and(u8::is_ascii_alphanumeric)).then_some(at)
}

/// Whether too few different characters are in what should be random.
fn is_stand_in(token: &[u8]) -> bool {
    let mut met = [false; 256];
    token.iter().for_each(|byte| met[usize::from(*byte)] = true);
    met.iter().filter(|met| **met).count() < LEAST_DIFFERENT
}

#[cfg(test)]
fn example(pieces: &[Piece], mut character: impl FnMut(&[u8]) -> u8) -> String {
    let mut token = String::new();
    for piece in pieces {
        match piece {
            Is(literal) => token.push_str(literal),
            Run(class, least, _) => {
                let allowed: Vec<u8> = (0..=127)
                    .filter(|byte| class.has(*byte) && byte.is_ascii_alphanumeric())
                    .collect();
                token.extend((0..*least).map(|_| char::from(character(&allowed))));
            }
        }
    }
    token
}
