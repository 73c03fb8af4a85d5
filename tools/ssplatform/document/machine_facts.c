/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json_fields.h"
#include "parts.h"

struct flags {
    bool known;
    bool hypervisor;
};

static void take_flags(void *context, const struct ssplatform_processor *processor) {
    struct flags *flags = context;
    const char *value = ssplatform_processor_value(processor, "flags");
    const char *at = value;

    flags->known |= value != NULL;
    for (; at && (at = strstr(at, "hypervisor")); at++) {
        bool begins = at == value || at[-1] == ' ';
        char next = at[strlen("hypervisor")];
        flags->hypervisor |= begins && (!next || next == ' ');
    }
}

static void write_hypervisor(struct ss_json *json, const struct sys_tree *tree) {
    struct flags flags = {0};
    ssplatform_each_processor(tree, take_flags, &flags);

    char *type = sys_tree_line(tree, "sys/hypervisor/type");
    if (!type) /* Arm has no flag but this file, which ends with a null byte, not a newline */
        type = sys_tree_read(tree, "proc/device-tree/hypervisor/compatible");
    const char *shown = type ? sys_tree_trim(type) : NULL;
    bool is_present = flags.hypervisor || shown;
    const char *present = NULL;
    if (is_present || flags.known)
        present = is_present ? "yes" : "no";

    ss_json_open(json, "hypervisor", '{');
    ss_json_text(json, "present", present);
    ss_json_text(json, "type", shown);
    ss_json_close(json, '}');

    free(type);
}

/*
 * Parts of control-group paths, delimited by slashes, dots or dashes, and the containers that use
 * them.
 */
static const char *const runtimes[][2] = {
    {"kubepods", "kubernetes"},
    {"docker", "docker"},
    {"libpod", "podman"},
    {"lxc", "lxc"},
    {"machine.slice", "systemd-nspawn"},
};

static bool has_part(const char *groups, const char *part) {
    for (const char *at = groups; (at = strstr(at, part)); at++) {
        if (at > groups && strchr("/-.", at[-1]) && strchr("/-.", at[strlen(part)]))
            return true;
    }
    return false;
}

static const char *kind_of_group(const char *groups) {
    for (size_t i = 0; groups && i < sizeof runtimes / sizeof *runtimes; i++) {
        if (has_part(groups, runtimes[i][0]))
            return runtimes[i][1];
    }
    return NULL;
}

/* Returns the variable `container` of the init process. The result points into `environment`. */
static const char *kind_of_environment(const char *environment, size_t length) {
    for (size_t at = 0; at < length; at += strlen(environment + at) + 1) {
        if (strncmp(environment + at, "container=", strlen("container=")) == 0)
            return environment + at + strlen("container=");
    }
    return NULL;
}

/*
 * Returns whether this is the initial PID namespace, whose inode number is fixed. In a recorded
 * tree the link is a file.
 */
static bool is_outermost(const struct sys_tree *tree) {
    static const char path[] = "proc/self/ns/pid";
    char text[64] = "";
    char *line = sys_tree_line(tree, path);
    ssize_t length = line ? 0 : readlinkat(tree->folder, path, text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    bool outermost = strcmp(line ? line : text, "pid:[4026531836]") == 0;
    free(line);
    return outermost;
}

static const struct mark {
    const char *file;
    const char *kind;
} marks[] = {
    {".dockerenv", "docker"},
    {"run/.containerenv", "podman"},
};

static void write_container(struct ss_json *json, const struct sys_tree *tree) {
    size_t length = 0;
    char *environment = sys_tree_read_large(tree, "proc/1/environ", &length);
    char *groups = sys_tree_read(tree, "proc/1/cgroup");
    const char *kind = NULL, *evidence = NULL;

    for (size_t i = 0; !kind && i < sizeof marks / sizeof *marks; i++) {
        if (sys_tree_has(tree, "%s", marks[i].file)) {
            kind = marks[i].kind;
            evidence = marks[i].file;
        }
    }

    if (!kind && (kind = kind_of_environment(environment, environment ? length : 0)))
        evidence = "proc/1/environ";
    if (!kind && (kind = kind_of_group(groups)))
        evidence = "proc/1/cgroup";
    if (!kind && is_outermost(tree)) {
        kind = "none";
        evidence = "proc/self/ns/pid";
    }

    ss_json_open(json, "container", '{');
    ss_json_text(json, "kind", kind);
    ss_json_text(json, "sign", evidence);
    ss_json_close(json, '}');

    free(environment);
    free(groups);
}

void ssplatform_write_machine(struct ss_json *json, const struct sys_tree *tree) {
    ss_json_open(json, "machine", '{');
    ssplatform_put_line(json, "vendor", tree, "sys/class/dmi/id/sys_vendor");
    ssplatform_put_line(json, "product", tree, "sys/class/dmi/id/product_name");
    ss_json_close(json, '}');
    write_hypervisor(json, tree);
    write_container(json, tree);
}
